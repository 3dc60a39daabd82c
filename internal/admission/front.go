package admission

// turnWeight is the weight of the first guess of the share who come.
const turnWeight = 20
