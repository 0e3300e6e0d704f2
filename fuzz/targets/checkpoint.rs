#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("checkpoint"), |bytes: &[u8]| readers::checkpoint(bytes));
