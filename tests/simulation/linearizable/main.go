// Reads a history of the simulation (JSON lines) and says whether it is linearizable: whether every answer can be
// explained by an order of all operations in which each one happens at some point between its call and its return.
// It shares no code with Reeve.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

type event struct {
	Type   string `json:"type"`
	ID     int    `json:"id"`
	Time   int64  `json:"time"`
	Model  string `json:"model"`
	Input  input  `json:"input"`
	Output output `json:"output"`
}

type input struct {
	Tiers map[string]int64 `json:"tiers"`
	Cost  int64            `json:"cost"`
	Key   string           `json:"key"`
	Op    string           `json:"op"`
	Do    string           `json:"do"`
	From  string           `json:"from"`
	To    string           `json:"to"`
}

type output struct {
	OK        bool     `json:"ok"`
	RefusedBy string   `json:"refusedBy"`
	States    []string `json:"states"`
}

// What one partition is asked: a tier, a key or an operation.
type asked struct {
	name string
	do   string
	cost int64
	cap  int64
	from string
	to   string
}

func main() {
	ops, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	names := []string{"budget", "key", "op"}
	code := 0
	for _, name := range names {
		for _, part := range partitions(ops[name]) {
			result := porcupine.CheckOperationsTimeout(models[name], part, time.Minute)
			if result == porcupine.Illegal {
				fmt.Printf("%s %s: not linearizable, %d operations\n", name, part[0].Input.(asked).name, len(part))
				code = 1
			}
			if result == porcupine.Unknown {
				fmt.Printf("%s %s: undecided after a minute, %d operations\n", name, part[0].Input.(asked).name, len(part))
				code = 1
			}
		}
	}
	fmt.Printf("checked %d budget, %d key, %d op\n", len(ops["budget"]), len(ops["key"]), len(ops["op"]))
	os.Exit(code)
}

func read(file *os.File) (map[string][]porcupine.Operation, error) {
	calls := map[int]event{}
	ops := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<16), 1<<24)
	for lines.Scan() {
		var each event
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			return nil, fmt.Errorf("not a line of a history: %w", err)
		}
		if each.Type == "invoke" {
			calls[each.ID] = each
			continue
		}
		call, known := calls[each.ID]
		if !known {
			return nil, fmt.Errorf("a return without its call: %d", each.ID)
		}
		for _, one := range expand(call.Model, call.Input, each.Output) {
			ops[call.Model] = append(ops[call.Model], porcupine.Operation{
				ClientId: each.ID, Input: one, Call: call.Time, Output: each.Output, Return: each.Time,
			})
		}
	}
	return ops, lines.Err()
}

// A charge that was made is one in every tier. One that was refused says something of a single tier.
func expand(model string, in input, out output) []asked {
	switch model {
	case "budget":
		all := []asked{}
		for tier, limit := range in.Tiers {
			if in.Do == "charge" && !out.OK && tier != out.RefusedBy {
				continue
			}
			all = append(all, asked{name: tier, do: in.Do, cost: in.Cost, cap: limit})
		}
		return all
	case "key":
		return []asked{{name: in.Key, do: in.Do}}
	default:
		return []asked{{name: in.Op, do: in.Do, from: in.From, to: in.To}}
	}
}

func partitions(ops []porcupine.Operation) [][]porcupine.Operation {
	byName := map[string][]porcupine.Operation{}
	for _, op := range ops {
		name := op.Input.(asked).name
		byName[name] = append(byName[name], op)
	}
	names := []string{}
	for name := range byName {
		names = append(names, name)
	}
	sort.Strings(names)
	all := [][]porcupine.Operation{}
	for _, name := range names {
		all = append(all, byName[name])
	}
	return all
}

var models = map[string]porcupine.Model{
	// The total of a tier. A charge that was made fits, and one that was refused does not.
	"budget": {
		Init: func() any { return int64(0) },
		Step: func(state, in, out any) (bool, any) {
			total, one := state.(int64), in.(asked)
			if one.do != "charge" {
				return true, total + one.cost
			}
			limit := one.cap
			if limit == 0 {
				limit = math.MaxInt64
			}
			fits := total+one.cost <= limit
			if !out.(output).OK {
				return !fits, total
			}
			return fits, total + one.cost
		},
	},
	// A key is made, used and revoked. After the revocation nothing is done by it any more.
	"key": {
		Init: func() any { return "none" },
		Step: func(state, in, out any) (bool, any) {
			ok := out.(output).OK
			switch in.(asked).do {
			case "create":
				return state == "none", "live"
			case "revoke":
				return state != "none", "revoked"
			default:
				return ok == (state == "live"), state
			}
		},
	},
	// An operation moves from state to state. An answer names states, one of which it was in.
	"op": {
		Init: func() any { return "none" },
		Step: func(state, in, out any) (bool, any) {
			one := in.(asked)
			if one.do == "move" {
				return one.from == "any" || state == one.from, one.to
			}
			for _, each := range out.(output).States {
				if state == each {
					return true, state
				}
			}
			return false, state
		},
	},
}
