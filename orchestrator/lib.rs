//! partita
