//! The agent as it is run: the real program with a joined host's credential, against a real API
//! server and a real engine.

mod bad;
mod config;
mod ends;
mod foreign;
mod health;
mod life;
mod networks;
mod pulls;
mod status;
mod update;
mod volume;
