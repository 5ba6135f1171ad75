//! The agent as it is run: the real program with a joined host's credential, against a real API
//! server and a real engine.

mod config;
mod ends;
mod health;
mod life;
mod networks;
mod pulls;
mod update;
mod volume;
