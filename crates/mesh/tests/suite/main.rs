//! Tests of meshes.

mod generators;
mod obj;
mod real_files;
mod repair;
mod topology;
mod unstructured;
