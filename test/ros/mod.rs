//! Tests of `ros`.
