//! The pairs, by the part of a manifest that they are about.

mod container;
mod grammar;
mod kinds;
mod mount;
mod network;
mod resources;
mod run;
mod volume;
mod workspace;

use super::pair::Pair;

pub fn all() -> Vec<Pair> {
    [
        container::pairs(),
        kinds::pairs(),
        mount::pairs(),
        network::pairs(),
        resources::pairs(),
        run::pairs(),
        volume::pairs(),
        workspace::pairs(),
    ]
    .concat()
}
