//! The client of a Docker Engine: one call, one deadline. Knows no kind of ours.
