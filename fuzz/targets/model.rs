#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("model"), |bytes: &[u8]| readers::model(bytes));
