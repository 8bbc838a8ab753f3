//! The types of fields. Their numbers are those of `neotuple.h`.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $size:literal, $text:literal;)*) => {
        /// The type of a field, or of the items of an array.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $number),* }

        impl Kind {
            /// All types, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The type with this number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }

            /// The bytes of one item in a tuple, equal on all hosts.
            pub const fn size(self) -> usize {
                match self { $(Self::$name => $size),* }
            }

            /// The name of the type in C, or our name of the three types that C does not have.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

kinds! {
    /// `char`.
    Char = 1, 1, "char";
    /// `signed char`.
    SignedChar = 2, 1, "signed char";
    /// `unsigned char`.
    UnsignedChar = 3, 1, "unsigned char";
    /// `short`.
    Short = 4, 2, "short";
    /// `unsigned short`.
    UnsignedShort = 5, 2, "unsigned short";
    /// `int`.
    Int = 6, 4, "int";
    /// `unsigned int`.
    UnsignedInt = 7, 4, "unsigned int";
    /// `long`: 8 bytes in a tuple, whatever its size in the C of a host.
    Long = 8, 8, "long";
    /// `unsigned long`.
    UnsignedLong = 9, 8, "unsigned long";
    /// `long long`.
    LongLong = 10, 8, "long long";
    /// `unsigned long long`.
    UnsignedLongLong = 11, 8, "unsigned long long";
    /// `float`.
    Float = 12, 4, "float";
    /// `double`.
    Double = 13, 8, "double";
    /// `long double`: 16 bytes that are not converted.
    LongDouble = 14, 16, "long double";
    /// `bool`: 0 or 1.
    Bool = 15, 1, "bool";
    /// `float complex`.
    FloatComplex = 16, 8, "float complex";
    /// `double complex`.
    DoubleComplex = 17, 16, "double complex";
    /// A string.
    Text = 32, 1, "text";
    /// Bytes, of any number.
    Bytes = 33, 1, "bytes";
    /// Bytes of a fixed number, which is a part of the type.
    Struct = 34, 1, "struct";
}

impl Kind {
    /// False for text, bytes and structs, which have no shape.
    pub const fn has_shape(self) -> bool {
        (self as u8) < Self::Text as u8
    }

    /// The bytes of each number in an item of this type: a host with another byte order swaps
    /// these.
    pub const fn part(self) -> usize {
        match self {
            Self::FloatComplex => 4,
            Self::DoubleComplex => 8,
            Self::LongDouble => 1,
            _ => self.size(),
        }
    }
}

/// The shape of a field: one value, or an array of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Shape {
    /// One value, or a text, bytes or a struct.
    Scalar = 0,
    /// Any number of values.
    Array = 1,
}
