//! Fits on a card: refused where there is none, and equal to the CPU where there is one
//! (`EIGENSPACE_TEST_DEVICE=cuda`).

use eigenspace::{Device, DeviceError, Engine, Error, FitOptions, subspace_distance};
use ndarray::{Array2, Axis};

use crate::support::{self, Random};

/// The card to test with, if one is named.
fn card() -> Option<Device> {
    let device = std::env::var("EIGENSPACE_TEST_DEVICE").ok()?.parse().unwrap();
    (device != Device::Cpu).then_some(device)
}

#[test]
fn the_names_of_devices() {
    for (text, device) in
        [("cpu", Device::Cpu), ("cuda", Device::Cuda(0)), ("cuda:3", Device::Cuda(3)), ("auto", Device::Auto)]
    {
        assert_eq!(text.parse::<Device>().unwrap(), device);
        assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
    }
    for text in ["gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", ""] {
        let error = text.parse::<Device>().unwrap_err();
        let words = format!("invalid device `{text}`: expected `cpu`, `cuda`, `cuda:N` or `auto`");
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn a_card_that_is_not_there_is_an_error_that_says_what_is_missing() {
    let options = FitOptions::new().components(3).device(Device::Cuda(99));
    let error = options.stream(2000).unwrap_err();
    let Error::Device(device_error) = &error else { panic!("{error}") };
    let text = error.to_string();
    match device_error {
        DeviceError::NotBuilt => assert_eq!(text, "cannot use CUDA: this build does not support it"),
        DeviceError::MissingLibrary { library } => assert!(text.starts_with(&format!("cannot load {library}: "))),
        DeviceError::NoDevice { reason } => assert_eq!(text, format!("no CUDA device: {reason}")),
        other => panic!("{other}"),
    }
    assert!(error.hint().unwrap().contains("compute on the CPU"), "{:?}", error.hint());
    #[cfg(feature = "cuda")]
    assert_ne!(*device_error, DeviceError::NotBuilt);
}

#[test]
fn without_a_usable_card_auto_is_the_cpu() {
    let rows = Random::new(1).matrix(300, 1100);
    let fit = |device| FitOptions::new().components(5).device(device).fit(rows.view()).unwrap();
    if card().is_none() {
        assert_eq!(fit(Device::Auto).to_bytes(), fit(Device::Cpu).to_bytes());
    }
    // Narrow rows are fitted on the CPU, with or without a card.
    let narrow = rows.slice_axis(Axis(1), (..20).into());
    let fit = |device| FitOptions::new().components(5).device(device).fit(narrow).unwrap();
    assert_eq!(fit(Device::Auto).to_bytes(), fit(Device::Cpu).to_bytes());
}

#[test]
fn a_card_gives_what_the_cpu_gives_and_the_same_bytes_twice() {
    let Some(card) = card() else { return };
    let spectrum: Vec<f64> = (0..60).map(|i| 100.0 / (1.0 + f64::from(i))).collect();
    let rows = Random::new(2).with_spectrum(2600, 1300, &spectrum) + &(Random::new(3).matrix(2600, 1300) * 1e-3) + 1e3;
    // Of large blocks, only the leading eigenvectors are computed.
    for (engine, block_rows) in [(Engine::Factor, 200), (Engine::Factor, 800), (Engine::Scatter, 200)] {
        let options = support::options().components(20).max_rank(40).engine(engine).block_rows(block_rows);
        let fit = |device, blocks: usize| {
            let mut stream = options.clone().device(device).stream(1300).unwrap();
            rows.axis_chunks_iter(Axis(0), blocks).for_each(|block| stream.update(block).unwrap());
            (*stream.model().unwrap()).clone()
        };
        let (cpu, one) = (fit(Device::Cpu, 400), fit(card, 400));
        assert_eq!(one.to_bytes(), fit(card, 400).to_bytes());
        assert_eq!(one.to_bytes(), fit(card, 33).to_bytes(), "the division into blocks does not matter");
        assert_eq!(cpu.mean(), one.mean());
        assert_eq!(cpu.feature_scatter(), one.feature_scatter());
        let largest = cpu.singular_values()[0];
        for (a, b) in cpu.singular_values().iter().zip(one.singular_values()) {
            assert!((a - b).abs() <= 1e-11 * largest, "{a} and {b}");
        }
        assert!(subspace_distance(cpu.components(), one.components()).unwrap() < 1e-9);
        let (lost, of_card) = (cpu.certificate().lost(), one.certificate().lost());
        assert!((lost - of_card).abs() <= 1e-9 * largest * largest, "{lost} and {of_card}");
    }
}

#[test]
fn rows_that_the_card_rejects_leave_the_stream_as_it_was() {
    let Some(card) = card() else { return };
    let mut stream = FitOptions::new().components(3).device(card).block_rows(50).stream(1200).unwrap();
    let mut rows: Array2<f64> = Random::new(4).matrix(300, 1200);
    stream.update(&rows).unwrap();
    let before = stream.checkpoint("");
    rows[[250, 7]] = f64::INFINITY;
    assert!(matches!(stream.update(&rows), Err(Error::NonFinite { row: 250, column: 7, .. })));
    assert_eq!(stream.checkpoint(""), before);
}
