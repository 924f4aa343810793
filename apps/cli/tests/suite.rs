//! The program from outside: its commands, protocols, files and faults. One program, so that what the tests share is compiled once.

mod calls;
mod arena;
mod certify;
mod devices;
mod export;
mod faults;
mod hosts;
mod metrics;
mod play;
mod program;
mod protocol;
mod provenance;
mod report;
mod review;
mod serve;
mod sweep;
mod tables;
mod text_files;
mod training;
