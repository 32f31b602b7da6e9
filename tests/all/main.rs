//! Integration tests, one module a topic.

mod generator;
