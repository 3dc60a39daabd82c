package block

// Free is which of a hall's seats are free.
type Free struct {
	hall *Hall
	is   []bool
	in   []int32 // of each run: how many of its seats are free
}

// NoneFree is a hall in which every seat is taken.
func (h *Hall) NoneFree() *Free {
	return &Free{hall: h, is: make([]bool, len(h.seats)), in: make([]int32, len(h.runs))}
}

// Let makes a seat free.
func (f *Free) Let(seat int) {
	if !f.is[seat] {
		f.is[seat] = true
		f.in[f.hall.run[seat]]++
	}
}

// Take makes a seat taken.
func (f *Free) Take(seat int) {
	if f.is[seat] {
		f.is[seat] = false
		f.in[f.hall.run[seat]]--
	}
}
