//! particles
