//! `neopvm._core`: the task library of NeoPVM for Python.
//!
//! [`Task`](task::Task) is this process as a task of the machine, [`Message`](message::Message) a
//! message that is packed or read. What needs no speed is written in Python around this module.
//! Waits release the interpreter, look for signals several times a second, and hold no lock.
//! Python's memory is reached in [`memory`] alone, the interpreter itself in [`interpreter`].

mod calls;
mod collective;
mod exposed;
mod failure;
#[allow(unsafe_code, reason = "the interpreter keeps an exception for later as a plain address")]
mod interpreter;
mod kind;
mod machine;
#[allow(unsafe_code, reason = "the one room that reads and writes memory of Python's objects")]
mod memory;
mod message;
mod number;
mod registry;
mod session;
mod space;
mod target;
mod task;
mod unread;
mod wait;
mod watch;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    memory::trust_single_thread();
    module.add_class::<task::Task>()?;
    module.add_class::<message::Message>()?;
    module.add_function(wrap_pyfunction!(task::enrol, module)?)?;
    module.add_function(wrap_pyfunction!(session::forked, module)?)?;
    module.add_class::<watch::Watch>()?;
    module.add_class::<exposed::Exposed>()?;
    module.add_class::<space::Space>()?;
    module.add_class::<space::Stop>()?;
    module.add_function(wrap_pyfunction!(space::open_space, module)?)?;
    module.add_function(wrap_pyfunction!(space::delete_space, module)?)?;
    module.add_function(wrap_pyfunction!(failure::codes, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::is_main_interpreter, module)?)?;
    module.add_function(wrap_pyfunction!(collective::combine, module)?)?;
    module.add("DEFAULT", 0)?;
    module.add("RAW", 1)?;
    module.add("LEAST_LOADED", pvm_wire::request::LEAST_LOADED)?;
    Ok(())
}
