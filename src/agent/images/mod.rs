//! stub
use crate::agent::fault::Fault;
use crate::engine::Engine;
/// s
#[derive(Clone, Debug)]
pub struct Puller;
/// s
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// s
    pub reference: &'a str,
    /// s
    pub platform: Option<&'a str>,
    /// s
    pub login: Option<&'a [u8]>,
}
impl Puller {
    /// s
    pub fn new() -> Self { Self }
    /// s
    pub async fn pull(&self, _e: &Engine, _a: Asked<'_>, progress: impl Fn(String)) -> Result<String, Fault> {
        progress(String::new());
        Err(Fault::new(crate::api::Reason::ImageNotFound, "stub"))
    }
}
