//! Names the first field in which two states differ: a serde serializer that walks a value in the
//! order in which its bytes are written and keeps the path and the bits of every scalar.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize};

/// Path and printed bits of every scalar of `value`, in the order of its bytes.
pub(crate) fn fields(value: &impl Serialize) -> Vec<(String, String)> {
    let mut walk = Walk { path: Vec::new(), found: Vec::new() };
    match value.serialize(&mut walk) {
        Ok(()) => walk.found,
        Err(Stop(why)) => vec![("(cannot be walked)".into(), why)],
    }
}

/// The first field in which two walks differ: `path: own / other`.
pub(crate) fn first_difference(own: &[(String, String)], others: &[(String, String)]) -> Option<String> {
    let differing = own.iter().zip(others).find(|(a, b)| a != b);
    Some(match differing {
        Some(((path, a), (other_path, b))) if path == other_path => format!("{path}: {a} / {b}"),
        Some(((path, a), (other_path, b))) => format!("{path}: {a} / {other_path}: {b}"),
        None if own.len() == others.len() => return None,
        None => format!(": {} fields / {} fields", own.len(), others.len()),
    })
}

struct Walk {
    path: Vec<String>,
    found: Vec<(String, String)>,
}

#[derive(Debug)]
struct Stop(String);

impl Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl Walk {
    fn leaf(&mut self, value: impl Display) -> Result<(), Stop> {
        self.found.push((self.path.concat(), value.to_string()));
        Ok(())
    }

    fn inner(&mut self, step: String, value: &(impl Serialize + ?Sized)) -> Result<(), Stop> {
        self.path.push(step);
        let result = value.serialize(&mut *self);
        self.path.pop();
        result
    }
}

/// Elements of a sequence, tuple or map, numbered.
struct Items<'a> {
    walk: &'a mut Walk,
    next: usize,
}

impl Items<'_> {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Stop> {
        self.next += 1;
        self.walk.inner(format!("[{}]", self.next - 1), value)
    }
}

macro_rules! leaves {
    ($($method:ident: $type:ty),*) => { $(
        fn $method(self, value: $type) -> Result<(), Stop> {
            self.leaf(value)
        }
    )* };
}

macro_rules! items {
    ($($kind:ident $method:ident),*) => { $(
        impl ser::$kind for Items<'_> {
            type Ok = ();
            type Error = Stop;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                self.item(value)
            }

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        }
    )* };
}

macro_rules! named {
    ($($kind:ident),*) => { $(
        impl ser::$kind for Items<'_> {
            type Ok = ();
            type Error = Stop;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Stop> {
                self.walk.inner(format!(".{key}"), value)
            }

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        }
    )* };
}

items!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);
named!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Stop;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        self.walk.inner(format!("[key {}]", self.next), key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        self.item(value)
    }

    fn end(self) -> Result<(), Stop> {
        Ok(())
    }
}

impl<'a> ser::Serializer for &'a mut Walk {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    leaves!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char, serialize_str: &str);

    fn serialize_f32(self, value: f32) -> Result<(), Stop> {
        self.leaf(format!("{value:?} (bits {:08x})", value.to_bits()))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Stop> {
        self.leaf(format!("{value:?} (bits {:016x})", value.to_bits()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Stop> {
        self.leaf(format!("{value:02x?}"))
    }

    fn serialize_none(self) -> Result<(), Stop> {
        self.leaf("none")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Stop> {
        self.leaf("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Stop> {
        self.leaf(name)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Stop> {
        self.leaf(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        self.inner(format!(".{variant}"), value)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items<'a>, Stop> {
        self.found.push((format!("{}.len", self.path.concat()), format!("{len:?}")));
        Ok(Items { walk: self, next: 0 })
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, Stop> {
        Ok(Items { walk: self, next: 0 })
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Stop> {
        Ok(Items { walk: self, next: 0 })
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Stop> {
        self.found.push((self.path.concat(), variant.into()));
        Ok(Items { walk: self, next: 0 })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Items<'a>, Stop> {
        self.serialize_seq(len)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Stop> {
        Ok(Items { walk: self, next: 0 })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Stop> {
        self.found.push((self.path.concat(), variant.into()));
        Ok(Items { walk: self, next: 0 })
    }

    /// As postcard: one byte string, so that both see the same scalars.
    fn is_human_readable(&self) -> bool {
        false
    }
}
