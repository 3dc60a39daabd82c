package document

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// squeezed is the parts as one gzip file (RFC 1952): a head without a name or a
// time, one stream of deflate, and the sum and the length of what it unpacks to.
// The stream may be put together of pieces that do not refer to each other.
func squeezed(parts [][]byte) ([]byte, error) {
	small := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	sum, length := crc32.NewIEEE(), 0
	for i, part := range parts {
		piece, err := deflated(part, i == len(parts)-1)
		if err != nil {
			return nil, err
		}
		small = append(small, piece...)
		length += len(part)
		sum.Write(part) //nolint:errcheck // a sum takes everything
	}
	small = binary.LittleEndian.AppendUint32(small, sum.Sum32())
	return slices.Clip(binary.LittleEndian.AppendUint32(small, uint32(length))), nil //nolint:gosec // modulo 2³², as the format has it
}

// deflated is the smaller of two ways: what repeats itself is matched, and what
// does not (a hall of which half is sold) is only harmed by trying.
func deflated(part []byte, last bool) (least []byte, err error) {
	for _, level := range []int{flate.BestCompression, flate.HuffmanOnly} {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, level)
		if err != nil {
			return nil, err
		}
		end := w.Flush // to a whole byte, for the next piece
		if last {
			end = w.Close
		}
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
		if err := end(); err != nil {
			return nil, err
		}
		if least == nil || b.Len() < len(least) {
			least = b.Bytes()
		}
	}
	return least, nil
}
