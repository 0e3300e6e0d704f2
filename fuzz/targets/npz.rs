#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("npz"), |bytes: &[u8]| readers::npz(bytes));
