//! One way to write a state: hash maps sorted by key.
//!
//! The caches of rapier's contacts with meshes and compounds hold hash maps, which are written in
//! the order of their memory. That depends on how they came about: a map that was read from bytes
//! has another one than the map that was written, with the same entries. Rapier asks these maps by
//! key only, so sorting them loses nothing, and equal states have equal bytes.

use serde::{
    Serialize, Serializer,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

/// A value whose maps are written sorted, at any depth.
pub(crate) struct Canonical<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Serialize for Canonical<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Sorting(serializer))
    }
}

/// Passes everything on to another serializer, but holds back the entries of a map.
struct Sorting<S>(S);

/// The entries of a map, as bytes.
struct Held<S> {
    inner: S,
    key: Vec<u8>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Bytes as they are: postcard writes a tuple without its length.
struct Raw(Vec<u8>);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        self.0.iter().try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

impl<S: Serializer> SerializeMap for Held<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.key = postcard::to_allocvec(&Canonical(key)).map_err(S::Error::custom)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        let value = postcard::to_allocvec(&Canonical(value)).map_err(S::Error::custom)?;
        self.entries.push((std::mem::take(&mut self.key), value));
        Ok(())
    }

    fn end(mut self) -> Result<S::Ok, S::Error> {
        self.entries.sort_unstable();
        let mut map = self.inner.serialize_map(Some(self.entries.len()))?;
        for (key, value) in self.entries {
            map.serialize_entry(&Raw(key), &Raw(value))?;
        }
        map.end()
    }
}

macro_rules! pass_on {
    ($($method:ident($value:ty))*) => { $(
        fn $method(self, value: $value) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        }
    )* };
}

impl<S: Serializer> Serializer for Sorting<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Sorting<S::SerializeSeq>;
    type SerializeTuple = Sorting<S::SerializeTuple>;
    type SerializeTupleStruct = Sorting<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Sorting<S::SerializeTupleVariant>;
    type SerializeMap = Held<S>;
    type SerializeStruct = Sorting<S::SerializeStruct>;
    type SerializeStructVariant = Sorting<S::SerializeStructVariant>;

    pass_on! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Canonical(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_variant(self, name: &'static str, i: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, i, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Canonical(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, i, variant, &Canonical(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Sorting)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Sorting)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Sorting)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, i, variant, len).map(Sorting)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Held<S>, S::Error> {
        Ok(Held { inner: self.0, key: Vec::new(), entries: Vec::new() })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(Sorting)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        i: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, i, variant, len).map(Sorting)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! elements {
    ($($of:ident::$method:ident($($key:ident)?))*) => { $(
        impl<S: $of> $of for Sorting<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($key: &'static str,)? value: &T) -> Result<(), S::Error> {
                self.0.$method($($key,)? &Canonical(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )* };
}

elements! {
    SerializeSeq::serialize_element()
    SerializeTuple::serialize_element()
    SerializeTupleStruct::serialize_field()
    SerializeTupleVariant::serialize_field()
    SerializeStruct::serialize_field(key)
    SerializeStructVariant::serialize_field(key)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::*;

    /// Hash maps in structs in maps, filled in opposite orders, are written as sorted maps would be.
    #[test]
    fn maps_are_written_sorted_at_any_depth() {
        type Nested = (u8, Vec<HashMap<u32, Option<HashMap<String, f64>>>>);
        let inner = |n: u32| (0..n).map(|i| (format!("{i}"), f64::from(i))).collect::<HashMap<_, _>>();
        let forwards: Nested = (7, vec![(0..40).map(|i| (i, Some(inner(i)))).collect(), HashMap::new()]);
        let backwards: Nested = (7, vec![(0..40).rev().map(|i| (i, Some(inner(i)))).collect(), HashMap::new()]);
        let bytes = postcard::to_allocvec(&Canonical(&forwards)).unwrap();
        assert_eq!(bytes, postcard::to_allocvec(&Canonical(&backwards)).unwrap());
        assert_eq!(postcard::from_bytes::<Nested>(&bytes).unwrap(), forwards);

        let sorted: BTreeMap<u8, u16> = [(3, 1000), (1, 2), (2, 5)].into();
        let hashed: HashMap<u8, u16> = sorted.clone().into_iter().collect();
        assert_eq!(postcard::to_allocvec(&Canonical(&hashed)).unwrap(), postcard::to_allocvec(&sorted).unwrap());
    }
}
