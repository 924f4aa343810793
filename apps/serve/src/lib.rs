//! The page to play and analyse, and pages of training runs, over HTTP.
//!
//! A [`Site`] answers requests, which [`serve`] reads from the network. No part of a request becomes a
//! path: [`Route`] lists the possible targets, names in it are looked up, and files have fixed names.

mod run_list;
mod route;
mod reply;
mod assets;
mod pages;
mod site;
mod request;
mod server;

pub use assets::{PageFile, page, page_in};
pub use request::Hosts;
pub use route::Route;
pub use server::{Settings, serve};
pub use site::Site;
