//! The next step, row by row of DESIGN section 4, and by a model of an engine.

mod ends;
mod hands;
mod memory;
mod model;
mod runs;
mod starts;
mod stops;
mod world;
