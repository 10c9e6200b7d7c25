//! rigid
