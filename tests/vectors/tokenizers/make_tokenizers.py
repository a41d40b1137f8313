#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tiny tokenizers, trained on this repository's documents, and the tokens that the package `tokenizers` (0.23.3 wrote
the committed files) gives for some texts. The documents change, so the files do too when this is run again."""
import json, pathlib, random
from tokenizers import Tokenizer, models, trainers, pre_tokenizers, decoders, Regex, AddedToken
out = pathlib.Path(__file__).resolve().parent
root = out.parents[2]
docs=[p.read_text() for p in sorted((root/'docs').rglob('*.md'))][:60]
LLAMA=r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
def make(kind):
    t=Tokenizer(models.BPE(ignore_merges=(kind=='llama3')))
    if kind=='llama3':
        t.pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA),'isolated'),pre_tokenizers.ByteLevel(add_prefix_space=False,use_regex=False)])
    else:
        t.pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=(kind=='prefix'))
    t.decoder=decoders.ByteLevel()
    tr=trainers.BpeTrainer(vocab_size=600,special_tokens=['<|endoftext|>'],initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),show_progress=False)
    t.train_from_iterator(docs,tr)
    if kind=='llama3':
        t.add_special_tokens(['<|begin|>','<|begin|>x'])
        t.add_tokens([AddedToken('task dir',normalized=True),AddedToken('dir <|end',normalized=True)])
    return t
rng=random.Random(5)
alphabet=list(" \t\n\r'sSTtrReEvVmMlLdD019.,!?-_<>|")+list("äßÅéñ\u00a0\u0085\u180e\u200b\u2028\u3000\u017f٣४²½Ⅷ中文字かなカ한국어🙂👩‍👩‍👧‍👦\u0301\u0308ǅ\ufeff")
texts=["","a"," ","  ","\n\n","Hello world","A worker's checkpoint isn't hashed twice; they'll see, I'd say.","IT'S WE'RE 'S 'ſ don\u2019t",
 "x = 1234567 + 3.14159\r\n\r\n\tindented   text  \n","tokens<|endoftext|>more <|begin|>x<|begin|> <|endof","the task dir <|endoftext|> task dir <|endx",
 "naïve Ünïcödé 中文 漢字かな 한국어 🙂👩‍👩‍👧‍👦 ٣٤٥","a\u0000b\u007f\u00ad"," ".join(["verification"]*3),"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"*4,
 docs[7][:1500]]
texts+=["".join(rng.choice(alphabet) for _ in range(rng.randrange(1,60))) for _ in range(60)]
for kind in ['gpt2','prefix','llama3']:
    t=make(kind); s=json.loads(t.to_str())
    if kind=='prefix': # the older form of merges, and no name of the model
        s['model']['merges']=[' '.join(m) for m in s['model']['merges']]; del s['model']['type']
    (out/f'{kind}.json').write_text(json.dumps(s,ensure_ascii=False,separators=(',',':')))
    t2=Tokenizer.from_file(str(out/f'{kind}.json')) if kind!='prefix' else t
    cases=[{'text':x,'ids':t2.encode(x,add_special_tokens=False).ids} for x in texts]
    (out/f'{kind}.vectors.json').write_text('[\n'+',\n'.join(json.dumps(c,ensure_ascii=True,separators=(',',':')) for c in cases)+'\n]\n')
