! SPDX-License-Identifier: MIT OR Apache-2.0
! The command line as one text of words, so that a system whose tasks are not given arguments can send it.
module command
  implicit none
  integer, parameter :: LINE_MAX = 1000, WORD_MAX = 40
contains

  function command_line() result(line)
    character(LINE_MAX) :: line
    character(WORD_MAX) :: argument
    integer :: i
    line = ''
    do i = 1, command_argument_count()
      call get_command_argument(i, argument)
      if (len_trim(line) + WORD_MAX >= LINE_MAX) then
        write (0, '(a,i0,a)') 'the arguments are longer than ', LINE_MAX - WORD_MAX, ' letters'
        call exit(2)
      end if
      line = trim(line)//' '//argument
    end do
    line = adjustl(line)
  end function

  ! The word of this number, from 1; blank behind the last.
  function word(line, number)
    character(*), intent(in) :: line
    integer, intent(in) :: number
    character(WORD_MAX) :: word
    integer :: i, begin
    begin = 1
    do i = 1, number - 1
      if (begin > len_trim(line)) exit
      begin = begin + scan(line(begin:), ' ')
    end do
    word = ''
    if (begin <= len_trim(line)) word = line(begin:begin + scan(line(begin:)//' ', ' ') - 2)
  end function

  ! A number that stands in the line, or the program ends.
  function number_at(line, number) result(value)
    character(*), intent(in) :: line
    integer, intent(in) :: number
    double precision :: value
    character(WORD_MAX) :: text
    integer :: status
    text = word(line, number)
    read (text, *, iostat=status) value
    if (status /= 0 .or. .not. is_number(text)) then
      write (0, '(3a,i0,a)') '"', trim(text), '" is word ', number, ', and should be a number'
      call exit(2)
    end if
  end function

  pure logical function is_number(text)
    character(*), intent(in) :: text
    is_number = text /= '' .and. verify(trim(text), '0123456789.') == 0
  end function
end module
