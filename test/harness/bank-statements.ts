import { readStatement } from '@svc/core/bank-files/statement-file'
import { createBankAccount } from '@svc/core/statements/bank-account'
import { importStatement } from '@svc/core/statements/import-statement'
import { paise } from '@svc/kernel/money'
import { sourceOf } from './bank-files.ts'
import type { TestService } from './service.ts'

/** A line of a statement as tests state it; amounts are paise. */
export interface StatedLine {
  readonly date: string
  readonly paise: number
  readonly reference?: string
  readonly narration?: string
}

export const rupees = (paise: number): string =>
  `${paise < 0 ? '-' : ''}${Math.floor(Math.abs(paise) / 100)}.${String(Math.abs(paise) % 100).padStart(2, '0')}`
const plain = (paise: number): string => rupees(Math.abs(paise))
const closingOf = (opening: number, lines: readonly StatedLine[]): number =>
  lines.reduce((sum, { paise }) => sum + paise, opening)

export const csvStatement = (opening: number, lines: readonly StatedLine[]): string => {
  let balance = opening
  const rows = lines.map(({ date, paise, reference = '', narration = '' }) => {
    balance += paise
    return [date, rupees(paise), reference, `"${narration}"`, rupees(balance)].join(',')
  })
  return ['date,amount,reference,narration,balance', ...rows, ''].join('\n')
}

const yymmdd = (day: string): string => day.slice(2).replaceAll('-', '')
const comma = (paise: number): string => plain(paise).replace('.', ',')

export const mt940Statement = (
  opening: number,
  lines: readonly StatedLine[],
  account = '50100012345678',
): string => {
  const [first, last] = [lines[0]?.date ?? '2026-04-01', lines.at(-1)?.date ?? '2026-04-01']
  const balance = (tag: string, day: string, paise: number) =>
    `:${tag}:${paise < 0 ? 'D' : 'C'}${yymmdd(day)}INR${comma(paise)}`
  const entries = lines.flatMap(({ date, paise, reference = '', narration = '' }) => [
    `:61:${yymmdd(date)}${yymmdd(date).slice(2)}${paise < 0 ? 'D' : 'C'}${comma(paise)}NTRF${reference || 'NONREF'}`,
    ...(narration === '' ? [] : [`:86:${narration}`]),
  ])
  return [
    ':20:STATEMENT1',
    `:25:${account}`,
    ':28C:00001/001',
    balance('60F', first, opening),
    ...entries,
    balance('62F', last, closingOf(opening, lines)),
    '-',
    '',
  ].join('\r\n')
}

export const camtStatement = (
  opening: number,
  lines: readonly StatedLine[],
  account = '50100012345678',
): string => {
  const [first, last] = [lines[0]?.date ?? '2026-04-01', lines.at(-1)?.date ?? '2026-04-01']
  const mark = (paise: number) => `<CdtDbtInd>${paise < 0 ? 'DBIT' : 'CRDT'}</CdtDbtInd>`
  const balance = (code: string, day: string, paise: number) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="INR">${plain(paise)}</Amt>${mark(paise)}<Dt><Dt>${day}</Dt></Dt></Bal>`
  const entries = lines.map(
    ({ date, paise, reference = '', narration = '' }) =>
      `<Ntry><Amt Ccy="INR">${plain(paise)}</Amt>${mark(paise)}<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${date}</Dt></BookgDt>
<NtryDtls><TxDtls><Refs><EndToEndId>${reference || 'NOTPROVIDED'}</EndToEndId></Refs><RmtInf><Ustrd>${narration}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>1</Id>
<Acct><Id><Othr><Id>${account}</Id></Othr></Id></Acct>
${balance('OPBD', first, opening)}${balance('CLBD', last, closingOf(opening, lines))}
${entries.join('\n')}
</Stmt></BkToCstmrStmt></Document>
`
}

export const STATEMENTS = { csv: csvStatement, mt940: mt940Statement, camt053: camtStatement }

/** An account and a statement of it, with lines of these amounts that fit nothing. */
export async function importLines({ app }: TestService, amounts: readonly number[]): Promise<void> {
  const { database, random } = app.services
  const account = {
    bankAccountId: 'bac_1',
    purpose: 'merchant_escrow',
    name: 'Escrow',
    accountNumber: '50100012345678',
    ifsc: 'HDFC0000123',
    openingPaise: paise(0n),
    openedOn: '2026-01-01',
    createdBy: 'operator asha',
  } as const
  await database.operate((tx) => createBankAccount(tx, account))
  const lines = amounts.map((amount) => ({ date: '2026-01-02', paise: amount }))
  const days = { zone: 'Asia/Kolkata', today: '2026-01-02' }
  const file = await readStatement(sourceOf(csvStatement(0, lines)), undefined, days)
  const tools = { database, random, nowMs: () => Date.now(), timeZone: 'Asia/Kolkata' }
  await importStatement(tools, file, { bankAccountId: 'bac_1', by: 'operator asha' })
}
