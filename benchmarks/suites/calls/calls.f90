! SPDX-License-Identifier: MIT OR Apache-2.0
! The calls of calls.h for Fortran, as far as the applications make them.
module calls
  use iso_c_binding
  implicit none
  interface
    subroutine calls_broadcast(from, data, bytes) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: from, bytes
      real(c_double), intent(inout) :: data(*)
    end subroutine
    subroutine calls_sum(data, count) bind(C)
      import :: c_int, c_double
      real(c_double), intent(inout) :: data(*)
      integer(c_int), value :: count
    end subroutine
    subroutine calls_send(mode, to, data, bytes) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: mode, to, bytes
      real(c_double), intent(in) :: data(*)
    end subroutine
    subroutine calls_receive(mode, from, data, bytes) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: mode, from, bytes
      real(c_double), intent(inout) :: data(*)
    end subroutine
    subroutine calls_shift(to, out, from, in, bytes) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: to, from, bytes
      real(c_double), intent(in) :: out(*)
      real(c_double), intent(inout) :: in(*)
    end subroutine
  end interface
  integer(c_int), parameter :: RAW = 0
end module
