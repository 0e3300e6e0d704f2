//! Defines the usual names of BLAS and LAPACK functions, which SciPy's OpenBLAS prefixes by
//! `scipy_`.

use std::arch::global_asm;

macro_rules! forward {
    ($($name:literal)*) => {
        $(global_asm!(
            concat!(".globl ", $name),
            concat!($name, ":"),
            #[cfg(target_arch = "x86_64")]
            concat!("jmp scipy_", $name, "@PLT"),
            #[cfg(target_arch = "aarch64")]
            concat!("b scipy_", $name),
        );)*
    };
}

forward! {
    "dgesdd_" "dgesvd_" "dgelqf_" "dorglq_" "dsyev_" "dsygv_" "dpotrf_" "dpotrs_" "dtrtrs_"
    "cblas_dgemm" "cblas_sgemm" "cblas_dgemv" "cblas_sgemv" "cblas_ddot" "cblas_sdot"
}
