//! The renderer's scene, against what the vendor's SDK computes and sends, and against the standard's text.
mod conformance;
mod console;
mod filters;
mod golden;
mod library;
mod own;
mod radiance;
mod rig;
mod simulation;
mod states;
mod terrain;
