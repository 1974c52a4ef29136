import type { SignedProof } from './proof.ts'

/** Facts that the files do not have: their hashes, and with what each purpose began. */
export interface VerifiedFiles {
  readonly hashes: Readonly<Record<string, string>>
  readonly opened: Readonly<Record<string, { readonly from: string; readonly opening: string }>>
}

/** A program that recomputes an exported proof from its files, and needs nothing else; `date` names it. */
export const verifyProgram = (
  { date }: Pick<SignedProof, 'date'>,
  { hashes, opened }: VerifiedFiles,
): string =>
  `// Recomputes the proof of funds of ${date} from the files beside it. Run it with Node.js: node verify.mjs
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
const HASHES = ${JSON.stringify(hashes)}
const OPENED = ${JSON.stringify(opened)}
${PROGRAM}`

const PROGRAM = String.raw`const problems = []
const check = (isRight, what) => isRight || problems.push(what)
const text = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
const paise = (rupees) => BigInt(rupees.replace('.', ''))
const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n)
function rows(name) {
  const table = [[]]
  for (const [, cell, end] of text(name).matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)) {
    table.at(-1).push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end !== ',') table.push([])
  }
  const [names, ...lines] = table.slice(0, -1)
  return lines.map((line) => Object.fromEntries(names.map((column, i) => [column, line[i]])))
}
for (const [name, hash] of Object.entries(HASHES))
  check(createHash('sha256').update(text(name)).digest('hex') === hash, name + ' was changed')
const { signed, ...proof } = JSON.parse(text('proof.json'))
check(Buffer.from(signed.split('.')[1], 'base64url').toString() === JSON.stringify(proof), 'proof.json is not what was signed')
const [lines, entries, listed, trial] = ['statement-lines', 'bank-entries', 'differences', 'trial-balance'].map((name) => rows(name + '.csv'))
for (const { purpose, statementBalance, booksBalance, unexplained, differences } of proof.accounts) {
  const of = (list) => list.filter((each) => each.purpose === purpose)
  const documents = new Map()
  for (const { documentId, effectiveDate, amount } of of(entries)) {
    const known = documents.get(documentId) ?? { before: 0n, since: 0n }
    known[effectiveDate < OPENED[purpose].from ? 'before' : 'since'] += paise(amount)
    documents.set(documentId, known)
  }
  const found = { opening: paise(OPENED[purpose].opening), deposit_in_transit: 0n, payment_in_transit: 0n, statement_only: 0n, amount_differs: 0n }
  for (const { documentId, amount } of of(lines)) {
    const { before, since } = documents.get(documentId) ?? { before: 0n, since: 0n }
    found[documents.delete(documentId) ? 'amount_differs' : 'statement_only'] += paise(amount) - before - since
  }
  for (const { before, since } of documents.values()) {
    found.opening -= before
    found[since > 0n ? 'deposit_in_transit' : 'payment_in_transit'] -= since
  }
  for (const [kind, amount] of Object.entries(found)) {
    for (const list of [differences, of(listed)])
      check(sum(list.filter((each) => each.kind === kind).map((each) => paise(each.amount))) === amount, purpose + ': ' + kind + ' is another sum')
  }
  check(sum(of(entries).map(({ amount }) => paise(amount))) === paise(booksBalance), purpose + ': the entries add up to another balance')
  const rest = paise(statementBalance) - paise(booksBalance) - sum(Object.values(found))
  check(rest === paise(unexplained), purpose + ': unexplained is ' + rest + ' paise')
}
const side = new Map(trial.map(({ kind, debit, credit }) => [kind, debit.includes('.') ? paise(credit) - paise(debit) : 0n]))
check(sum([...side.values()]) === 0n, 'the trial balance does not balance')
check(JSON.stringify(trial) === JSON.stringify(proof.trialBalance), 'trial-balance.csv is not that of the proof')
for (const { purpose, owed, due, required, bank, surplus } of proof.coverage) {
  for (const { kind, amount } of owed) check(paise(amount) === side.get(kind) || paise(amount) === 0n, purpose + ': ' + kind + ' is another sum')
  const needed = sum(owed.map(({ amount }) => paise(amount))) - sum(due.map(({ amount }) => paise(amount)))
  check(needed === paise(required) && paise(bank) - needed === paise(surplus), purpose + ': the surplus is another one')
}
console.log(problems.length === 0 ? 'The files agree with the proof of ' + proof.date : problems.join('\n'))
process.exitCode = problems.length === 0 ? 0 : 1
`
