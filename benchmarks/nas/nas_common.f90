! SPDX-License-Identifier: MIT OR Apache-2.0
! The shared part for Fortran: what nas.h declares, and messages by the calls of fpvm3.h.
module nas_common
  use, intrinsic :: iso_c_binding
  use nas_pvm
  implicit none

  integer, parameter :: dp = c_double
  integer, parameter :: nas_size = 1, nas_step = 2, nas_self = 4, nas_mastered = 8
  integer, parameter :: nas_iterations = 16
  integer, parameter :: nas_master = -1
  integer, parameter :: nas_inplace = 2

  type, bind(C) :: nas_run
    real(c_double) :: step
    integer(c_int) :: tasks, rank, first, thesis, self, encoding, class_letter
    integer(c_int) :: size(3)
    integer(c_int) :: iterations
  end type
  type(nas_run), bind(C, name="nas") :: nas

  interface
    subroutine nas_begin(bytes_a_task) bind(C)
      import
      real(c_double), value :: bytes_a_task
    end subroutine
    subroutine nas_poll() bind(C)
    end subroutine
    subroutine nas_end() bind(C)
    end subroutine
    integer(c_int) function nas_tid(rank) bind(C)
      import
      integer(c_int), value :: rank
    end function
    subroutine nas_sum(items, count) bind(C)
      import
      integer(c_int), value :: count
      real(c_double), intent(inout) :: items(*)
    end subroutine
    subroutine nas_max(items, count) bind(C)
      import
      integer(c_int), value :: count
      real(c_double), intent(inout) :: items(*)
    end subroutine
    subroutine nas_broadcast(items, count) bind(C)
      import
      integer(c_int), value :: count
      real(c_double), intent(inout) :: items(*)
    end subroutine
    subroutine nas_barrier() bind(C)
    end subroutine
    subroutine nas_timed(begins) bind(C)
      import
      integer(c_int), value :: begins
    end subroutine
    real(c_double) function nas_seconds() bind(C)
      import
    end function
    real(c_double) function nas_random(seed, factor) bind(C)
      import
      real(c_double), intent(inout) :: seed
      real(c_double), value :: factor
    end function
    subroutine nas_randoms(count, seed, factor, out) bind(C)
      import
      integer(c_int), value :: count
      real(c_double), intent(inout) :: seed
      real(c_double), value :: factor
      real(c_double), intent(out) :: out(*)
    end subroutine
    pure real(c_double) function nas_seed_after(seed, factor, steps) bind(C)
      import
      real(c_double), value :: seed, factor
      integer(c_long), value :: steps
    end function
    subroutine nas_count_send(began, bytes) bind(C)
      import
      real(c_double), value :: began, bytes
    end subroutine
    subroutine nas_count_receive(began) bind(C)
      import
      real(c_double), value :: began
    end subroutine
    ! Inside the module only.
    subroutine c_options(argc, argv, name, flags) bind(C, name="nas_options")
      import
      integer(c_int), value :: argc, flags
      type(c_ptr), intent(in) :: argv(*)
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine c_require_tasks(takes, rule) bind(C, name="nas_require_tasks")
      import
      type(c_funptr), value :: takes
      character(kind=c_char), intent(in) :: rule(*)
    end subroutine
    subroutine c_quantity(name, got, wanted, tolerance) bind(C, name="nas_quantity")
      import
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: got, wanted, tolerance
    end subroutine
    subroutine c_norm(name, got) bind(C, name="nas_norm")
      import
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: got
    end subroutine
    subroutine c_report(size, iterations, seconds, operations) bind(C, name="nas_report")
      import
      character(kind=c_char), intent(in) :: size(*)
      integer(c_int), value :: iterations
      real(c_double), value :: seconds, operations
    end subroutine
    subroutine c_fail(text) bind(C, name="nas_fail_text")
      import
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    subroutine c_check(answer, call) bind(C, name="nas_check")
      import
      integer(c_int), value :: answer
      character(kind=c_char), intent(in) :: call(*)
    end subroutine
  end interface

  ! The calls of PVM that messages need; items of any type.
  interface
    subroutine pvmfinitsend(encoding, info)
      integer, intent(in) :: encoding
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfpack(what, items, count, stride, info)
      integer, intent(in) :: what, count, stride
      type(*), intent(in) :: items(*)
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfunpack(what, items, count, stride, info)
      integer, intent(in) :: what, count, stride
      type(*), intent(inout) :: items(*)
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfsend(tid, tag, info)
      integer, intent(in) :: tid, tag
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfpsend(tid, tag, items, count, what, info)
      integer, intent(in) :: tid, tag, count, what
      type(*), intent(in) :: items(*)
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfrecv(tid, tag, info)
      integer, intent(in) :: tid, tag
      integer, intent(out) :: info
    end subroutine
    subroutine pvmfprecv(tid, tag, items, count, what, from, found, bytes, info)
      integer, intent(in) :: tid, tag, count, what
      type(*), intent(inout) :: items(*)
      integer, intent(out) :: from, found, bytes, info
    end subroutine
  end interface

  abstract interface
    integer(c_int) function nas_takes(tasks) bind(C)
      import
      integer(c_int), value :: tasks
    end function
  end interface

contains

  ! The command line goes to the C part.
  subroutine nas_options(name, flags)
    character(*), intent(in) :: name
    integer, intent(in) :: flags
    character(kind=c_char, len=512), allocatable, target, save :: words(:)
    type(c_ptr), allocatable, save :: argv(:)
    integer :: i, count
    count = command_argument_count()
    allocate (words(0:count), argv(0:count + 1))
    do i = 0, count
      call get_command_argument(i, words(i))
      words(i) = trim(words(i)) // c_null_char
      argv(i) = c_loc(words(i))
    end do
    argv(count + 1) = c_null_ptr
    call c_options(count + 1, argv, name // c_null_char, flags)
  end subroutine

  ! Ends the program unless takes(nas%tasks) is not 0; `rule` says what is possible.
  subroutine nas_require_tasks(takes, rule)
    procedure(nas_takes) :: takes
    character(*), intent(in) :: rule
    call c_require_tasks(c_funloc(takes), rule // c_null_char)
  end subroutine

  subroutine nas_fail(text)
    character(*), intent(in) :: text
    call c_fail(text // c_null_char)
  end subroutine

  subroutine nas_check(answer, call)
    integer, intent(in) :: answer
    character(*), intent(in) :: call
    if (answer < 0) call c_check(answer, call // c_null_char)
  end subroutine

  subroutine nas_quantity(name, got, wanted, tolerance)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got, wanted, tolerance
    call c_quantity(name // c_null_char, got, wanted, tolerance)
  end subroutine

  subroutine nas_norm(name, got)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got
    call c_norm(name // c_null_char, got)
  end subroutine

  subroutine nas_report(size, iterations, seconds, operations)
    character(*), intent(in) :: size
    integer, intent(in) :: iterations
    real(dp), intent(in) :: seconds, operations
    call c_report(size // c_null_char, iterations, seconds, operations)
  end subroutine

  ! count doubles; a complex number is two.
  subroutine nas_send(to, tag, items, count)
    integer, intent(in) :: to, tag, count
    type(*), intent(in) :: items(*)
    real(dp) :: began
    integer :: info
    began = nas_seconds()
    if (nas%encoding == nas_inplace) then
      call pvmfpsend(nas_tid(to), tag, items, count, REAL8, info)
      call nas_check(info, 'pvmfpsend')
    else
      call pvmfinitsend(nas%encoding, info)
      call nas_check(info, 'pvmfinitsend')
      call pvmfpack(REAL8, items, count, 1, info)
      call nas_check(info, 'pvmfpack')
      call pvmfsend(nas_tid(to), tag, info)
      call nas_check(info, 'pvmfsend')
    end if
    call nas_count_send(began, 8d0 * count)
  end subroutine

  subroutine nas_recv(from, tag, items, count)
    integer, intent(in) :: from, tag, count
    type(*), intent(inout) :: items(*)
    real(dp) :: began
    integer :: info, tid, found, bytes
    began = nas_seconds()
    if (nas%encoding == nas_inplace) then
      call pvmfprecv(nas_tid(from), tag, items, count, REAL8, tid, found, bytes, info)
      call nas_check(info, 'pvmfprecv')
      if (bytes /= 8 * count) call nas_fail('a message has another length than expected.')
    else
      call pvmfrecv(nas_tid(from), tag, info)
      call nas_check(info, 'pvmfrecv')
      call pvmfunpack(REAL8, items, count, 1, info)
      call nas_check(info, 'pvmfunpack')
    end if
    call nas_count_receive(began)
  end subroutine

end module
