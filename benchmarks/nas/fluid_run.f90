! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The run that SP and BT share: what is refused, the time steps, the verification.
module fluid_run
  use fluid
  use fluid_tiles
  use fluid_sweep
  use, intrinsic :: iso_c_binding, only: c_int
  use nas_common
  implicit none
  private
  public :: class_t, method_t, run_fluid

  real(dp), parameter :: tolerance = 1.0e-8_dp
  integer, parameter :: tag_field = 10, tag_norms = 11

  ! An official class.
  type class_t
     character :: letter
     integer :: size, iterations
     real(dp) :: step
     real(dp) :: residual(5), error(5)
  end type class_t

  ! How a program solves the lines.
  type method_t
     integer :: forward, backward        ! numbers that a line hands on, and back, between tiles
     integer :: kept                     ! numbers a point keeps between the two
     procedure(prepare), pointer, nopass :: prepare => null()
     procedure(line_pass), pointer, nopass :: eliminate => null()
     procedure(return_pass), pointer, nopass :: substitute => null()
     procedure(row_work), pointer, nopass :: finish_rhs => null()
  end type method_t

  abstract interface
     subroutine prepare(longest)
       integer, intent(in) :: longest
     end subroutine prepare
  end interface

  ! What this run computes.
  integer, save :: points(3), iterations
  real(dp), save :: step
  logical, save :: official

contains

  subroutine run_fluid(name, classes, operations, method)
    character(*), intent(in) :: name
    type(class_t), intent(in) :: classes(:)
    real(dp), intent(in) :: operations(4)
    type(method_t), intent(in) :: method
    type(partition_t) :: g
    type(class_t) :: wanted
    real(dp) :: seconds
    call nas_options(name, nas_size + nas_step + nas_self + nas_mastered)
    call choose_case(classes, wanted)
    call nas_require_tasks(tasks_fit, 'each tile of the grid needs two points along each direction')
    call nas_begin(task_bytes(method))
    call set_problem(points, step, sound=associated(method%finish_rhs))
    to_self = nas%self /= 0
    if (nas%rank >= 0) then
       call make_partition(g, nas%tasks, nas%rank, points)
       call method%prepare(longest_line(g))
    end if
    call solve(g, method, seconds)
    call verify(g, wanted)
    call nas_report(size_text(), iterations, seconds, iterations * operation_count(operations))
    call nas_end()
  end subroutine run_fluid

  ! The class named, or for --size the class nearest to it gives what the options leave open.
  subroutine choose_case(classes, wanted)
    type(class_t), intent(in) :: classes(:)
    type(class_t), intent(out) :: wanted
    integer :: i
    i = findloc(classes%letter == achar(nas%class_letter), .true., 1)
    if (i == 0) i = minloc(abs(classes%size - nas%size(1)), 1)
    wanted = classes(i)
    points = merge(nas%size, wanted%size, nas%size > 0)
    iterations = merge(nas%iterations, wanted%iterations, nas%iterations > 0)
    step = merge(nas%step, wanted%step, nas%step > 0)
    official = all(points == wanted%size) .and. iterations == wanted%iterations &
         .and. abs(step - wanted%step) <= tolerance
  end subroutine choose_case

  integer(c_int) function tasks_fit(tasks) bind(C)
    integer(c_int), value :: tasks
    tasks_fit = merge(1, 0, tiles_fit(tasks, points))
  end function tasks_fit

  integer function longest_line(g)
    type(partition_t), intent(in) :: g
    longest_line = maxval((points - 2 + g%shape - 1) / g%shape)
  end function longest_line

  ! An upper bound of what a task needs: its tiles, and the lines of all but one of them.
  real(dp) function task_bytes(method)
    type(method_t), intent(in) :: method
    integer :: shape(3), n(3)
    shape = partition_shape(nas%tasks)
    n = (points - 2 + shape - 1) / shape
    task_bytes = real(product(shape) / nas%tasks, dp) &
         * (block_bytes(n) + 8.0_dp * method%kept * product(n + 4.0_dp))
  end function task_bytes

  ! The timed section of NPB: the field is set up, one step is taken to touch everything, the field
  ! is set up again, and then the clock runs for the given number of steps.
  subroutine solve(g, method, seconds)
    type(partition_t), intent(inout) :: g
    type(method_t), intent(in) :: method
    real(dp), intent(out) :: seconds
    integer :: i
    call prepare_forcing(g)
    call restart(g)
    call advance(g, method)
    call restart(g)
    if (nas%rank >= 0) call nas_barrier()
    call nas_timed(1)
    seconds = nas_seconds()
    do i = 1, iterations
       call advance(g, method)
    end do
    seconds = nas_seconds() - seconds
    call nas_timed(0)
  end subroutine solve

  subroutine prepare_forcing(g)
    type(partition_t), intent(inout) :: g
    integer :: i
    do i = 1, tile_count(g)
       call set_forcing(g%tile(i)%b)
    end do
  end subroutine prepare_forcing

  ! The initial field; in the thesis's shape the master makes it and hands it out.
  subroutine restart(g)
    type(partition_t), intent(inout) :: g
    type(partition_t) :: theirs
    integer :: i, rank
    if (.not. mastered()) then
       do i = 1, tile_count(g)
          call initial_field(g%tile(i)%b)
       end do
    else if (nas%rank == nas_master) then
       do rank = 0, nas%tasks - 1
          call make_partition(theirs, nas%tasks, rank, points)
          do i = 1, tile_count(theirs)
             call initial_field(theirs%tile(i)%b)
             call nas_send(rank, tag_field, theirs%tile(i)%b%u, size(theirs%tile(i)%b%u))
          end do
       end do
    else
       do i = 1, tile_count(g)
          call nas_recv(nas_master, tag_field, g%tile(i)%b%u, size(g%tile(i)%b%u))
       end do
    end if
  end subroutine restart

  ! Whether a task that does not compute hands out and collects.
  logical function mastered()
    mastered = nas%thesis /= 0
  end function mastered

  ! One time step: the right-hand side, then the three factors, the last of which adds to u.
  subroutine advance(g, method)
    type(partition_t), intent(inout) :: g
    type(method_t), intent(in) :: method
    integer :: i, d
    if (tile_count(g) == 0) return
    call exchange_halo(g)
    do i = 1, tile_count(g)
       if (associated(method%finish_rhs)) then
          call right_hand_side(g%tile(i)%b, method%finish_rhs)
       else
          call right_hand_side(g%tile(i)%b)
       end if
    end do
    do d = 1, 3
       call sweep(g, d, method%forward, method%backward, method%kept, method%eliminate, &
            method%substitute)
    end do
    call nas_poll()
  end subroutine advance

  ! The master of the thesis's shape has no tiles.
  pure integer function tile_count(g)
    type(partition_t), intent(in) :: g
    tile_count = 0
    if (allocated(g%tile)) tile_count = size(g%tile)
  end function tile_count

  ! The root of the mean square over the grid, for each of the five quantities, of the residual and
  ! of the difference from the exact solution. As in NPB the mean is over the interior points.
  subroutine verify(g, wanted)
    type(partition_t), intent(inout) :: g
    type(class_t), intent(in) :: wanted
    real(dp) :: squares(10)
    integer :: i
    squares = 0
    if (tile_count(g) > 0) call exchange_halo(g)
    do i = 1, tile_count(g)
       squares(6:10) = squares(6:10) + error_squares(g%tile(i)%b)
       call right_hand_side(g%tile(i)%b)
       squares(1:5) = squares(1:5) + residual_squares(g%tile(i)%b)
    end do
    call collect(squares)
    squares = sqrt(squares / product(real(points - 2, dp)))
    do i = 1, 5
       call tell('residual', i, squares(i), wanted%residual(i))
    end do
    do i = 1, 5
       call tell('error', i, squares(5+i), wanted%error(i))
    end do
  end subroutine verify

  ! The sum over all workers; without a master everybody has it, else the master.
  subroutine collect(squares)
    real(dp), intent(inout) :: squares(10)
    real(dp) :: theirs(10)
    integer :: rank
    if (.not. mastered()) then
       call nas_sum(squares, 10)
    else if (nas%rank /= nas_master) then
       call nas_send(nas_master, tag_norms, squares, 10)
    else
       do rank = 0, nas%tasks - 1
          call nas_recv(rank, tag_norms, theirs, 10)
          squares = squares + theirs
       end do
    end if
  end subroutine collect

  subroutine tell(what, component, got, wanted)
    character(*), intent(in) :: what
    integer, intent(in) :: component
    real(dp), intent(in) :: got, wanted
    character(24) :: name
    write (name, '(a,1x,i0)') what, component
    if (official) then
       call nas_quantity(trim(name), got, wanted, tolerance)
    else
       call nas_norm(trim(name), got)
    end if
  end subroutine tell

  function size_text() result(text)
    character(:), allocatable :: text
    character(40) :: buffer
    write (buffer, '(i0,"x",i0,"x",i0)') points
    text = trim(buffer)
  end function size_text

  ! As NPB counts the operations of a step.
  real(dp) function operation_count(factors)
    real(dp), intent(in) :: factors(4)
    real(dp) :: mean
    mean = sum(real(points, dp)) / 3
    operation_count = factors(1) * product(real(points, dp)) + factors(2) * mean**2 &
         + factors(3) * mean + factors(4)
  end function operation_count
end module fluid_run
