#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("npy"), |bytes: &[u8]| readers::npy(bytes));
