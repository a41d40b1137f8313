// SPDX-License-Identifier: Apache-2.0

// Makes signed bank transfers for a Cosmos SDK chain, and a genesis whose accounts send them. Each account sends one, so
// that no transaction waits for another. build.sh compiles it inside the SDK's own module.
//
//	transfers COUNT CHAIN_ID GENESIS OUT
//
// GENESIS is changed in place; OUT gets one transaction a line, in hex.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	clienttx "github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	"github.com/cosmos/cosmos-sdk/simapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
)

const balance = 1_000_000

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "transfers:", err)
		os.Exit(1)
	}
}

func keyOf(number uint64) *secp256k1.PrivKey {
	secret := make([]byte, 8)
	binary.BigEndian.PutUint64(secret, number)
	return secp256k1.GenPrivKeyFromSecret(secret)
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: transfers COUNT CHAIN_ID GENESIS OUT")
		os.Exit(2)
	}
	count, err := strconv.ParseUint(os.Args[1], 10, 64)
	must(err)
	first, err := addAccounts(os.Args[3], count)
	must(err)
	must(writeTransfers(os.Args[4], os.Args[2], count, first))
}

// addAccounts returns the account number of the first one that it adds.
func addAccounts(file string, count uint64) (uint64, error) {
	codec := simapp.MakeTestEncodingConfig().Codec
	state, doc, err := genutiltypes.GenesisStateFromGenFile(file)
	if err != nil {
		return 0, err
	}
	auth := authtypes.GetGenesisStateFromAppState(codec, state)
	accounts, err := authtypes.UnpackAccounts(auth.Accounts)
	if err != nil {
		return 0, err
	}
	bank := banktypes.GetGenesisStateFromAppState(codec, state)
	first := uint64(len(accounts))
	coins := sdk.NewCoins(sdk.NewInt64Coin("stake", balance))
	for i := uint64(0); i < count; i++ {
		address := sdk.AccAddress(keyOf(i).PubKey().Address())
		accounts = append(accounts, authtypes.NewBaseAccount(address, nil, first+i, 0))
		bank.Balances = append(bank.Balances, banktypes.Balance{Address: address.String(), Coins: coins})
		bank.Supply = bank.Supply.Add(coins...)
	}
	if auth.Accounts, err = authtypes.PackAccounts(accounts); err != nil {
		return 0, err
	}
	for i, account := range accounts[:first] {
		must(account.SetAccountNumber(uint64(i)))
	}
	state[authtypes.ModuleName] = codec.MustMarshalJSON(&auth)
	state[banktypes.ModuleName] = codec.MustMarshalJSON(bank)
	if doc.AppState, err = json.Marshal(state); err != nil {
		return 0, err
	}
	return first, doc.SaveAs(file)
}

func writeTransfers(file, chainID string, count, first uint64) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	writer := bufio.NewWriter(out)
	config := simapp.MakeTestEncodingConfig().TxConfig
	for i := uint64(0); i < count; i++ {
		key := keyOf(i)
		from := sdk.AccAddress(key.PubKey().Address())
		to := sdk.AccAddress(keyOf((i + 1) % count).PubKey().Address())
		builder := config.NewTxBuilder()
		if err := builder.SetMsgs(banktypes.NewMsgSend(from, to, sdk.NewCoins(sdk.NewInt64Coin("stake", 1)))); err != nil {
			return err
		}
		builder.SetGasLimit(200_000)
		signer := authsigning.SignerData{
			Address: from.String(), ChainID: chainID, AccountNumber: first + i, Sequence: 0, PubKey: key.PubKey()}
		mode := signing.SignMode_SIGN_MODE_DIRECT
		empty := signing.SignatureV2{PubKey: key.PubKey(), Data: &signing.SingleSignatureData{SignMode: mode}}
		if err := builder.SetSignatures(empty); err != nil {
			return err
		}
		signature, err := clienttx.SignWithPrivKey(mode, signer, builder, key, config, 0)
		if err != nil {
			return err
		}
		if err := builder.SetSignatures(signature); err != nil {
			return err
		}
		bytes, err := config.TxEncoder()(builder.GetTx())
		if err != nil {
			return err
		}
		if _, err := writer.WriteString(hex.EncodeToString(bytes) + "\n"); err != nil {
			return err
		}
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	return out.Close()
}
