#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("image"), |bytes: &[u8]| readers::image(bytes));
