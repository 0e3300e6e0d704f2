//! The element types of NumPy arrays, and the conversion of their bytes to numbers.

use half::f16;

/// A real number type, and whether it is big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elements {
    kind: Kind,
    big: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// Appends numbers of one type, converted from bytes and to the wanted type.
macro_rules! append {
    ($elements:expr, $bytes:expr, $to:expr, $type:ty, $into:expr) => {{
        let into: fn($type) -> _ = $into;
        let numbers = $bytes.as_chunks().0.iter();
        if $elements.big {
            $to.extend(numbers.map(|bytes| into(<$type>::from_be_bytes(*bytes))));
        } else {
            $to.extend(numbers.map(|bytes| into(<$type>::from_le_bytes(*bytes))));
        }
    }};
}

impl Elements {
    /// The element type of a description such as `<f8`; `None` for anything but real numbers.
    pub(super) fn of(descr: &str) -> Option<Self> {
        let (big, kind) = match descr.split_at_checked(1)? {
            (">", kind) => (true, kind),
            ("<" | "|" | "=", kind) => (false, kind),
            _ => return None,
        };
        let kind = match kind {
            "b1" => Kind::Bool,
            "i1" => Kind::I8,
            "i2" => Kind::I16,
            "i4" => Kind::I32,
            "i8" => Kind::I64,
            "u1" => Kind::U8,
            "u2" => Kind::U16,
            "u4" => Kind::U32,
            "u8" => Kind::U64,
            "f2" => Kind::F16,
            "f4" => Kind::F32,
            "f8" => Kind::F64,
            _ => return None,
        };
        Some(Self { kind, big })
    }

    /// Number of bytes of one element.
    pub(super) fn size(self) -> usize {
        match self.kind {
            Kind::Bool | Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 | Kind::F16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    /// Whether the numbers fit in f32.
    pub(super) fn is_narrow(self) -> bool {
        matches!(self.kind, Kind::F16 | Kind::F32)
    }

    /// Converts bytes to f32, for types that fit in it, and appends them.
    pub(super) fn append_narrow(self, bytes: &[u8], to: &mut Vec<f32>) {
        match self.kind {
            Kind::F16 => append!(self, bytes, to, f16, f16::to_f32),
            _ => append!(self, bytes, to, f32, |x| x),
        }
    }

    /// Converts bytes to f64, and appends them.
    pub(super) fn append_wide(self, bytes: &[u8], to: &mut Vec<f64>) {
        match self.kind {
            Kind::Bool => append!(self, bytes, to, u8, |x| f64::from(u8::from(x != 0))),
            Kind::I8 => append!(self, bytes, to, i8, f64::from),
            Kind::I16 => append!(self, bytes, to, i16, f64::from),
            Kind::I32 => append!(self, bytes, to, i32, f64::from),
            Kind::I64 => append!(self, bytes, to, i64, |x| x as f64),
            Kind::U8 => append!(self, bytes, to, u8, f64::from),
            Kind::U16 => append!(self, bytes, to, u16, f64::from),
            Kind::U32 => append!(self, bytes, to, u32, f64::from),
            Kind::U64 => append!(self, bytes, to, u64, |x| x as f64),
            Kind::F16 => append!(self, bytes, to, f16, f16::to_f64),
            Kind::F32 => append!(self, bytes, to, f32, f64::from),
            Kind::F64 => append!(self, bytes, to, f64, |x| x),
        }
    }
}
