//! A lock that knows its owner.
//!
//! A signal handler may call the library while the interrupted thread is inside of it. A plain
//! lock would wait for ever for its own thread; this one says [`Code::Already`].

use super::{futex_wait, futex_wake, thread_number};
use pvm_shm::lock_word::{LockWord, Number, Taken};
use pvm_wire::Code;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

/// A byte that stays 0 for ever.
static NEVER: AtomicU8 = AtomicU8::new(0);
/// The byte that tells whether one thread alone has called.
static ALONE: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const NEVER).cast_mut());

/// The number of the thread that [`trust_alone`] trusts.
static ONLY: AtomicU32 = AtomicU32::new(0);

/// From now on this thread's waits take their short ways while the byte at `flag` is not 0.
///
/// # Safety
/// It is valid for ever, and not 0 only while no second thread has called this library: the C
/// library's `__libc_single_threaded`, or a [`pvm_shm::bias::Bias`] that each other thread ends
/// before it does anything else in this library, with [`super::fence_all_threads`] behind it.
pub unsafe fn trust_alone(flag: *const u8) {
    ONLY.store(thread_number().get(), Ordering::Relaxed);
    ALONE.store(flag.cast_mut().cast(), Ordering::Relaxed);
}

/// True while one thread alone has called this library, as far as is known.
#[inline]
pub fn is_alone() -> bool {
    // SAFETY: `NEVER`, or what the caller of `trust_alone` promised.
    unsafe { &*ALONE.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}

/// This thread's number, for a lock. It lies in a word of all threads where one alone calls: to
/// find this thread's own memory costs a call of the loader's.
#[inline]
fn own_number() -> Number {
    if is_alone() {
        return Number::of_value(ONLY.load(Ordering::Relaxed));
    }
    thread_number()
}

/// The owner in whose name a short call takes locks.
///
/// # Safety
/// `take` must not return true again before the owner that got true last has called `give_back`:
/// so at most one owner is inside at any time.
pub unsafe trait Owner: Copy {
    /// Takes the lock; true if the caller has it now.
    fn take(self, word: &LockWord) -> bool;
    /// Gives the lock back.
    fn give_back(self, word: &LockWord);
}

/// The thread that the process is biased to, behind a mark of its own: it neither looks at a lock
/// nor writes it.
#[derive(Clone, Copy, Debug)]
pub struct Biased(PhantomData<*const ()>);

impl Biased {
    /// The owner, for as long as the mark stands.
    ///
    /// # Safety
    /// As long as the value or a copy of it is used, no other thread and no handler of signals
    /// enters a gate, and this thread is in none.
    #[inline]
    pub const unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

// SAFETY: nobody else enters, and nobody is inside.
unsafe impl Owner for Biased {
    #[inline]
    fn take(self, _: &LockWord) -> bool {
        true
    }
    #[inline]
    fn give_back(self, _: &LockWord) {}
}

/// The proof that this is the child of a fork, where the forking thread is the only one.
#[derive(Debug)]
pub struct Forked {
    is_torn: bool,
    _here: PhantomData<*const ()>,
}

impl Forked {
    /// The proof, for the handler of forks.
    ///
    /// # Safety
    /// This process is the child of a fork, and gets no second thread as long as the value is used.
    ///
    /// `is_torn`: the parent was biased to another thread, and that one was on a fast path, of
    /// which gates do not tell.
    pub const unsafe fn now(is_torn: bool) -> Self {
        Self { is_torn, _here: PhantomData }
    }
}

/// One of several threads, by its number.
#[derive(Clone, Copy, Debug)]
pub struct Among(pub Number);

// SAFETY: the word goes from free to taken in one step.
unsafe impl Owner for Among {
    #[inline]
    fn take(self, word: &LockWord) -> bool {
        word.try_take(self.0)
    }
    #[inline]
    fn give_back(self, word: &LockWord) {
        if word.give_back(false) {
            wake(word);
        }
    }
}

#[cold]
#[inline(never)]
fn wake(word: &LockWord) {
    futex_wake(word.word());
}

/// A value behind such a lock.
#[derive(Debug)]
pub struct Gate<T> {
    word: LockWord,
    value: UnsafeCell<T>,
}
// SAFETY: only the thread that has the lock reaches the value.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The value, while the gate is ours.
#[derive(Debug)]
pub struct GateGuard<'a, T> {
    gate: &'a Gate<T>,
    asleep: bool,
    /// A guard stays on its thread.
    _thread: PhantomData<*const ()>,
}

/// The value, while the gate is ours by a fast path: nobody sleeps beside it.
#[derive(Debug)]
pub struct FastGuard<'a, T, O: Owner> {
    gate: &'a Gate<T>,
    owner: O,
    /// A guard stays on its thread.
    _thread: PhantomData<*const ()>,
}

impl<T> Gate<T> {
    /// An open gate.
    pub const fn new(value: T) -> Self {
        Self { word: LockWord::new(), value: UnsafeCell::new(value) }
    }

    /// Waits for other threads.
    ///
    /// # Errors
    /// [`Code::Already`] if this thread has the gate: a signal handler interrupted the library.
    #[inline]
    pub fn enter(&self) -> Result<GateGuard<'_, T>, Code> {
        let me = own_number();
        if self.word.try_take(me) { Ok(self.guard(false)) } else { self.enter_behind_others(me) }
    }

    #[cold]
    fn enter_behind_others(&self, me: Number) -> Result<GateGuard<'_, T>, Code> {
        if is_alone() {
            // The thread that slept here is gone.
            self.get_up();
        }
        loop {
            match self.word.take(me) {
                Ok(asleep) => return Ok(self.guard(asleep)),
                Err(Taken::Own) => return Err(Code::Already),
                Err(Taken::Other(word)) => self.wait(word),
            }
        }
    }

    /// [`Gate::enter`] in one step: none if somebody has it, or sleeps beside it.
    #[inline]
    pub fn try_enter<O: Owner>(&self, owner: O) -> Option<FastGuard<'_, T, O>> {
        // No guard is made where the gate is not ours: its end would open the gate.
        owner.take(&self.word).then(|| FastGuard { gate: self, owner, _thread: PhantomData })
    }

    /// The value, if nobody has the gate.
    pub fn enter_if_free(&self) -> Option<GateGuard<'_, T>> {
        self.word.take(thread_number()).ok().map(|asleep| self.guard(asleep))
    }

    const fn guard(&self, asleep: bool) -> GateGuard<'_, T> {
        GateGuard { gate: self, asleep, _thread: PhantomData }
    }

    #[cold]
    fn wait(&self, word: u32) {
        if let Some(contended) = self.word.contend(word) {
            futex_wait(self.word.word(), contended, None);
        }
    }

    /// A thread is about to sleep, without the gate, until another one rings: see
    /// [`LockWord::lie_down`]. False if one is inside now.
    pub fn lie_down(&self) -> bool {
        self.word.lie_down()
    }

    /// It is awake.
    pub fn get_up(&self) {
        self.word.get_up();
    }

    /// Opens a gate that another thread of the parent held, which is not here. It may have changed
    /// one half of the value, so `fresh` takes its stead, and nothing of it is dropped. A gate that
    /// the forking thread holds itself stays as it is.
    pub fn reset_after_fork(&self, _: &Forked, fresh: impl FnOnce() -> T) {
        self.replace_after_fork(self.word.reset_after_fork(thread_number()), fresh);
    }

    /// [`Gate::reset_after_fork`] of a gate that fast paths enter.
    pub fn reset_fast_after_fork(&self, forked: &Forked, fresh: impl FnOnce() -> T) {
        self.replace_after_fork(
            self.word.reset_after_fork(thread_number()) | forked.is_torn,
            fresh,
        );
    }

    fn replace_after_fork(&self, is_torn: bool, fresh: impl FnOnce() -> T) {
        if is_torn {
            // SAFETY: the thread that had the gate does not exist in this process, which has one
            // thread as `Forked` says; that one is inside of this call.
            unsafe { self.value.get().write(fresh()) };
        }
    }
}

impl<T> GateGuard<'_, T> {
    /// A thread sleeps beside the gate, or is about to.
    #[inline]
    pub const fn has_sleeper(&self) -> bool {
        self.asleep
    }
}

impl<T> Deref for GateGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard is the proof that this thread owns the gate.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for GateGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.gate.value.get() }
    }
}

impl<T> Drop for GateGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.gate.word.give_back(self.asleep) {
            wake(&self.gate.word);
        }
    }
}

impl<T, O: Owner> Deref for FastGuard<'_, T, O> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the proof that this thread owns the gate.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T, O: Owner> DerefMut for FastGuard<'_, T, O> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.gate.value.get() }
    }
}

impl<T, O: Owner> Drop for FastGuard<'_, T, O> {
    #[inline]
    fn drop(&mut self) {
        self.owner.give_back(&self.gate.word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_among_others_enters_swiftly_where_nobody_is() {
        let gate = Gate::new(0);
        let me = Among(thread_number());
        *gate.try_enter(me).expect("free") = 7;
        let guard = gate.enter().expect("free again");
        for _ in 0..2 {
            assert!(gate.try_enter(me).is_none(), "who is refused opens nothing");
            assert!(gate.enter_if_free().is_none(), "who is refused opens nothing");
        }
        assert_eq!(*guard, 7);
    }

    #[test]
    fn threads_take_turns_and_a_second_entry_is_refused() {
        let gate = Gate::new(0u64);
        {
            let _guard = gate.enter().expect("free");
            assert_eq!(gate.enter().err(), Some(Code::Already));
        }
        let fast = || gate.try_enter(Among(thread_number())).map(|mut count| *count += 1);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..20_000).for_each(|_| *gate.enter().expect("a turn") += 1));
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if fast().is_none() {
                            *gate.enter().expect("a turn") += 1;
                        }
                    }
                });
            }
        });
        assert_eq!(*gate.enter().expect("free"), 80_000);
    }

    #[test]
    fn what_another_thread_was_changing_at_a_fork_is_replaced_and_not_dropped() {
        struct Torn(bool);
        impl Drop for Torn {
            fn drop(&mut self) {
                assert!(!self.0, "half changed");
            }
        }
        // SAFETY: no other thread uses this gate any more, as in the child of a fork.
        let forked = unsafe { Forked::now(false) };
        let gate = Gate::new(Torn(false));
        gate.reset_after_fork(&forked, || unreachable!("nobody was inside"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = gate.enter().expect("free");
                guard.0 = true;
                std::mem::forget(guard);
            });
        });
        assert!(gate.enter_if_free().is_none());
        gate.reset_after_fork(&forked, || Torn(false));
        let guard = gate.enter().expect("open again");
        assert!(!guard.0);
        // A handler of signals that forks inside of a call: the call goes on.
        gate.reset_after_fork(&forked, || unreachable!("it is this thread's"));
        assert_eq!(gate.enter().err(), Some(Code::Already));
        drop(guard);
        assert!(gate.enter().is_ok());
        // The parent was biased to a thread that was inside, which the gate does not tell.
        // SAFETY: as above.
        let torn = unsafe { Forked::now(true) };
        gate.enter().expect("open").0 = true;
        gate.reset_fast_after_fork(&torn, || Torn(false));
        assert!(!gate.enter().expect("open").0);
    }

    #[test]
    fn beside_a_sleeper_only_the_long_way_is_open_and_says_so() {
        let gate = Gate::new(0);
        let guard = gate.enter().expect("free");
        assert!(!guard.has_sleeper());
        assert!(!gate.lie_down(), "somebody is inside");
        drop(guard);
        assert!(gate.lie_down());
        assert!(gate.try_enter(Among(thread_number())).is_none());
        assert!(gate.enter().expect("free").has_sleeper());
        gate.get_up();
        assert!(!gate.enter().expect("free").has_sleeper());
    }
}
