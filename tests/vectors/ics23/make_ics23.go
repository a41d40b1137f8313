// SPDX-License-Identifier: Apache-2.0

// Writes commitment_proofs.json: proofs of a Jellyfish Merkle tree, made here from its definition, and what the
// reference library of ICS-23 says of each. README.md has the commands.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	ics23 "github.com/cosmos/ics23/go"
)

var (
	leafPrefix  = []byte("JMT::LeafNode")
	innerPrefix = []byte("JMT::IntrnalNode")
	empty       = []byte("SPARSE_MERKLE_PLACEHOLDER_HASH__")
	spec        = &ics23.ProofSpec{
		LeafSpec: &ics23.LeafOp{Hash: ics23.HashOp_SHA256, PrehashKey: ics23.HashOp_SHA256,
			PrehashValue: ics23.HashOp_SHA256, Length: ics23.LengthOp_NO_PREFIX, Prefix: leafPrefix},
		InnerSpec: &ics23.InnerSpec{ChildOrder: []int32{0, 1}, ChildSize: 32, MinPrefixLength: 16,
			MaxPrefixLength: 16, EmptyChild: empty, Hash: ics23.HashOp_SHA256},
		MaxDepth: 256, PrehashKeyBeforeComparison: true,
	}
)

type leaf struct{ key, value, keyHash []byte }
type caseOut struct {
	What     string  `json:"what"`
	Key      string  `json:"key"`
	Value    *string `json:"value"`
	Proof    string  `json:"proof"`
	Accepted bool    `json:"accepted"`
}
type treeOut struct {
	Keys   []string  `json:"keys"`
	Values []string  `json:"values"`
	Root   string    `json:"root"`
	Cases  []caseOut `json:"cases"`
}

func hash(parts ...[]byte) []byte {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return sum[:]
}

func bit(h []byte, i int) int { return int(h[i/8]>>(7-i%8)) & 1 }

func split(leaves []leaf, depth int) int {
	return sort.Search(len(leaves), func(i int) bool { return bit(leaves[i].keyHash, depth) == 1 })
}

func root(leaves []leaf, depth int) []byte {
	switch len(leaves) {
	case 0:
		return empty
	case 1:
		return hash(leafPrefix, leaves[0].keyHash, hash(leaves[0].value))
	}
	at := split(leaves, depth)
	return hash(innerPrefix, root(leaves[:at], depth+1), root(leaves[at:], depth+1))
}

// The steps from the leaf upwards.
func path(leaves []leaf, index, depth int) []*ics23.InnerOp {
	if len(leaves) == 1 {
		return nil
	}
	at := split(leaves, depth)
	step := &ics23.InnerOp{Hash: ics23.HashOp_SHA256, Prefix: append([]byte{}, innerPrefix...)}
	if index < at {
		step.Suffix = root(leaves[at:], depth+1)
		return append(path(leaves[:at], index, depth+1), step)
	}
	step.Prefix = append(step.Prefix, root(leaves[:at], depth+1)...)
	return append(path(leaves[at:], index-at, depth+1), step)
}

func exist(leaves []leaf, index int) *ics23.ExistenceProof {
	if index < 0 || index >= len(leaves) {
		return nil
	}
	return &ics23.ExistenceProof{Key: leaves[index].key, Value: leaves[index].value, Leaf: spec.LeafSpec,
		Path: path(leaves, index, 0)}
}

func existence(p *ics23.ExistenceProof) *ics23.CommitmentProof {
	return &ics23.CommitmentProof{Proof: &ics23.CommitmentProof_Exist{Exist: p}}
}

func absence(key []byte, left, right *ics23.ExistenceProof) *ics23.CommitmentProof {
	return &ics23.CommitmentProof{Proof: &ics23.CommitmentProof_Nonexist{
		Nonexist: &ics23.NonExistenceProof{Key: key, Left: left, Right: right}}}
}

// What the library says. It panics at some malformed proofs; such are refused.
func verdict(root, encoded, key, value []byte) (accepted bool) {
	defer func() {
		if recover() != nil {
			accepted = false
		}
	}()
	var proof ics23.CommitmentProof
	if proof.Unmarshal(encoded) != nil {
		return false
	}
	if value != nil {
		return ics23.VerifyMembership(spec, root, &proof, key, value)
	}
	return ics23.VerifyNonMembership(spec, root, &proof, key)
}

type maker struct {
	leaves []leaf
	out    treeOut
	root   []byte
}

func (m *maker) add(what string, proof *ics23.CommitmentProof, key, value []byte, expected bool) {
	encoded, err := proof.Marshal()
	if err != nil {
		panic(err)
	}
	if got := verdict(m.root, encoded, key, value); got != expected {
		panic(fmt.Sprintf("%s of %q in a tree of %d: the library says %v", what, key, len(m.leaves), got))
	}
	c := caseOut{What: what, Key: string(key), Proof: hex.EncodeToString(encoded), Accepted: expected}
	if value != nil {
		text := string(value)
		c.Value = &text
	}
	m.out.Cases = append(m.out.Cases, c)
}

func clone(p *ics23.ExistenceProof) *ics23.ExistenceProof {
	encoded, _ := p.Marshal()
	out := &ics23.ExistenceProof{}
	if out.Unmarshal(encoded) != nil {
		panic("clone")
	}
	return out
}

func (m *maker) present(index int) {
	l := m.leaves[index]
	m.add("present", existence(exist(m.leaves, index)), l.key, l.value, true)
}

func (m *maker) hostilePresent(index int) {
	l := m.leaves[index]
	change := func(what string, alter func(p *ics23.ExistenceProof)) {
		p := clone(exist(m.leaves, index))
		alter(p)
		m.add(what, existence(p), l.key, l.value, false)
	}
	good := existence(exist(m.leaves, index))
	m.add("claimed with another value", good, l.key, []byte("forged"), false)
	m.add("claimed of another key", good, []byte("forged"), l.value, false)
	m.add("existence for absence", good, l.key, nil, false)
	m.add("absence of what is there, by its neighbours",
		absence(l.key, exist(m.leaves, index-1), exist(m.leaves, index+1)), l.key, nil, false)
	m.add("absence of what is there, with itself on the left",
		absence(l.key, exist(m.leaves, index), exist(m.leaves, index+1)), l.key, nil, false)
	forged := clone(exist(m.leaves, index))
	forged.Value = []byte("forged")
	m.add("a forged value in the proof too", existence(forged), l.key, []byte("forged"), false)
	change("leaf prefix altered", func(p *ics23.ExistenceProof) { p.Leaf.Prefix[0] ^= 1 })
	change("leaf prefix longer", func(p *ics23.ExistenceProof) { p.Leaf.Prefix = append(p.Leaf.Prefix, 0) })
	change("leaf without hash", func(p *ics23.ExistenceProof) { p.Leaf.Hash = ics23.HashOp_NO_HASH })
	change("key not hashed first", func(p *ics23.ExistenceProof) { p.Leaf.PrehashKey = ics23.HashOp_NO_HASH })
	change("value not hashed first", func(p *ics23.ExistenceProof) { p.Leaf.PrehashValue = ics23.HashOp_NO_HASH })
	change("lengths before key and value", func(p *ics23.ExistenceProof) { p.Leaf.Length = ics23.LengthOp_VAR_PROTO })
	change("no leaf", func(p *ics23.ExistenceProof) { p.Leaf = nil })
	change("257 steps", func(p *ics23.ExistenceProof) {
		step := &ics23.InnerOp{Hash: ics23.HashOp_SHA256, Prefix: innerPrefix, Suffix: empty}
		for len(p.Path) < 257 {
			p.Path = append(p.Path, step)
		}
	})
	for i, step := range exist(m.leaves, index).Path {
		if i != 0 && i != len(exist(m.leaves, index).Path)-1 {
			continue
		}
		at := fmt.Sprintf(", step %d", i)
		change("sibling altered"+at, func(p *ics23.ExistenceProof) {
			if len(step.Suffix) != 0 {
				p.Path[i].Suffix[31] ^= 1
			} else {
				p.Path[i].Prefix[47] ^= 1
			}
		})
		change("sides exchanged"+at, func(p *ics23.ExistenceProof) {
			if len(step.Suffix) != 0 {
				p.Path[i].Prefix, p.Path[i].Suffix = append(p.Path[i].Prefix, step.Suffix...), nil
			} else {
				p.Path[i].Prefix, p.Path[i].Suffix = step.Prefix[:16], step.Prefix[16:]
			}
		})
		change("left out"+at, func(p *ics23.ExistenceProof) { p.Path = append(p.Path[:i], p.Path[i+1:]...) })
		change("prefix shorter"+at, func(p *ics23.ExistenceProof) { p.Path[i].Prefix = p.Path[i].Prefix[1:] })
		change("prefix longer"+at, func(p *ics23.ExistenceProof) { p.Path[i].Prefix = append(p.Path[i].Prefix, 0) })
		change("prefix of a leaf"+at, func(p *ics23.ExistenceProof) {
			p.Path[i].Prefix = append(append([]byte{}, leafPrefix...), p.Path[i].Prefix[13:]...)
		})
		change("other hash"+at, func(p *ics23.ExistenceProof) { p.Path[i].Hash = ics23.HashOp_SHA512 })
		change("both siblings"+at, func(p *ics23.ExistenceProof) {
			p.Path[i].Suffix = append(p.Path[i].Suffix, make([]byte, 32)...)
		})
	}
}

// The index of the first leaf after `key`.
func (m *maker) after(key []byte) int {
	h := hash(key)
	return sort.Search(len(m.leaves), func(i int) bool { return bytes.Compare(m.leaves[i].keyHash, h) > 0 })
}

func (m *maker) absent(key []byte) {
	at := m.after(key)
	m.add("absent", absence(key, exist(m.leaves, at-1), exist(m.leaves, at)), key, nil, true)
}

func (m *maker) hostileAbsent(key []byte) {
	at, n := m.after(key), len(m.leaves)
	add := func(what string, left, right *ics23.ExistenceProof) {
		m.add(what, absence(key, left, right), key, nil, false)
	}
	left, right := exist(m.leaves, at-1), exist(m.leaves, at)
	m.add("absence for existence", absence(key, left, right), key, []byte("forged"), false)
	add("no neighbours", nil, nil)
	if left != nil && right != nil {
		add("left neighbour left out", nil, right)
		add("right neighbour left out", left, nil)
		add("neighbours exchanged", right, left)
	}
	if at-2 >= 0 && right != nil {
		add("a nearer left neighbour passed over", exist(m.leaves, at-2), right)
	}
	if at+1 < n && left != nil {
		add("a nearer right neighbour passed over", left, exist(m.leaves, at+1))
	}
	if at-2 >= 0 {
		add("both on the left", exist(m.leaves, at-2), left)
	}
	if at+1 < n {
		add("both on the right", right, exist(m.leaves, at+1))
	}
	for _, side := range []*ics23.ExistenceProof{left, right} {
		if side == nil {
			continue
		}
		bad := clone(side)
		bad.Value = append(bad.Value, 'x')
		if side == left {
			add("left value altered", bad, right)
		} else {
			add("right value altered", left, bad)
		}
	}
}

func newMaker(keys []string) *maker {
	m := &maker{}
	for i, key := range keys {
		value := fmt.Sprintf("value %d", i)
		m.out.Keys, m.out.Values = append(m.out.Keys, key), append(m.out.Values, value)
		m.leaves = append(m.leaves, leaf{[]byte(key), []byte(value), hash([]byte(key))})
	}
	sort.Slice(m.leaves, func(a, b int) bool { return bytes.Compare(m.leaves[a].keyHash, m.leaves[b].keyHash) < 0 })
	m.root = root(m.leaves, 0)
	m.out.Root = hex.EncodeToString(m.root)
	return m
}

// A key whose hash is before (after) every leaf's.
func (m *maker) beyond(end int) []byte {
	for i := 0; ; i++ {
		key := []byte(fmt.Sprintf("beyond %d", i))
		if m.after(key) == end {
			return key
		}
	}
}

// Two keys whose hashes begin with the same 28 bits, so that empty subtrees lie along their paths.
func twins() []string {
	seen := map[uint32]string{}
	for i := 0; ; i++ {
		key := fmt.Sprintf("twin %d", i)
		start := binary.BigEndian.Uint32(hash([]byte(key))) >> 4
		if other, found := seen[start]; found {
			return []string{other, key}
		}
		seen[start] = key
	}
}

func main() {
	var trees []treeOut
	names := func(n int) (out []string) {
		for i := 0; i < n; i++ {
			out = append(out, fmt.Sprintf("key %d", i))
		}
		return out
	}
	sets := [][]string{names(1), names(2), names(3), names(7), names(40), twins(), append(twins(), names(5)...), names(300)}
	for _, keys := range sets {
		m := newMaker(keys)
		n := len(keys)
		picked := map[int]bool{0: true, n / 2: true, n - 1: true}
		for i := range m.leaves {
			if picked[i] || n == 7 {
				m.present(i)
			}
		}
		m.hostilePresent(n / 2)
		absent := [][]byte{m.beyond(0), m.beyond(n)}
		for i := 0; i < 4; i++ {
			absent = append(absent, []byte(fmt.Sprintf("absent %d", i)))
		}
		if n > 1 {
			absent = append(absent, m.beyond(n/2))
		}
		for i, key := range absent {
			m.absent(key)
			if i < 2 || i == 6 {
				m.hostileAbsent(key)
			}
		}
		trees = append(trees, m.out)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if encoder.Encode(map[string]any{"trees": trees}) != nil {
		os.Exit(1)
	}
}
