#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("picture"), |bytes: &[u8]| readers::picture(bytes));
