#!/bin/bash
# lint.sh RUSTC ARGUMENT...: compiles as RUSTC does, and with clippy what is our own module.
# Cargo calls it as RUSTC_WRAPPER, which makes no other artifacts of the same crates.
case " $* " in
  *" --crate-name _core "*) exec clippy-driver "$@" ;;
  *) exec "$@" ;;
esac
