//! The agent as it is run: the real program with a joined host's credential, against a real API
//! server and a real engine.

mod api_away;
mod bad;
mod config;
mod crash_everywhere;
mod ends;
mod engine_restart;
mod faults;
mod foreign;
mod hands;
mod health;
mod idle;
mod kills;
mod life;
mod networks;
mod on_fake;
mod pulls;
mod rejoin;
mod status;
mod update;
mod volume;
