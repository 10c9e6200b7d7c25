//! Tests of reports, tapes, pages, pictures and exports.

mod common;
mod export;
mod export_places;
mod frames;
mod page;
mod page_numbers;
mod pages;
mod pictures;
mod reports;
mod run;
mod strain;
mod tape;
mod warnings;
