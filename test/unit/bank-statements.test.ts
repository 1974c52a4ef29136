import { createRequire } from 'node:module'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { expect, test } from 'vitest'
import { DAYS, sourceOf } from '../harness/bank-files.ts'
import {
  camtStatement,
  csvStatement,
  mt940Statement,
  rupees,
  STATEMENTS,
  type StatedLine,
} from '../harness/bank-statements.ts'

/** Another reader of MT940, without types. */
const { Parser } = createRequire(import.meta.url)('mt940js') as {
  Parser: new () => { parse(text: string): { transactions: { amount: number; reference: string }[] }[] }
}

const read = async (text: string, format?: 'mt940' | 'camt053') => {
  const { rows, hash: _, ...summary } = await readStatement(sourceOf(text), format, DAYS)
  const lines = []
  for await (const row of rows()) lines.push(row)
  return { ...summary, lines }
}

let seed = 7
const draw = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % below
}
const LINES: readonly StatedLine[] = Array.from({ length: 300 }, (_, i) => ({
  date: `2026-${String(1 + Math.floor(i / 28)).padStart(2, '0')}-${String(1 + (i % 28)).padStart(2, '0')}`,
  paise: (draw(2) === 0 ? 1 : -1) * (1 + draw(10_000_000)),
  reference: draw(4) === 0 ? '' : `N${draw(1_000_000_000)}X${i}`.slice(0, 16),
  narration: ['', `NEFT-HDFC0000${i}-ACME`, 'CHARGES APRIL', `IMPS/${draw(1_000_000)}/x y`][draw(4)]!,
})).sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))

test('one set of lines is read the same from all formats, which are recognized by how they begin', async () => {
  const expected = LINES.map(({ date, paise, reference = '', narration = '' }) => ({
    bookedOn: date,
    amountPaise: BigInt(paise),
    reference,
    narration,
  }))
  for (const [format, write] of Object.entries(STATEMENTS)) {
    const { lines, openingPaise, closingPaise, through } = await read(write(-5_000, LINES))
    expect(
      lines.map(({ line: _line, balancePaise: _balance, ...rest }) => rest),
      format,
    ).toEqual(expected)
    expect({ openingPaise, closingPaise, through }, format).toEqual({
      openingPaise: -5_000n,
      closingPaise: LINES.reduce((sum, { paise }) => sum + BigInt(paise), -5_000n),
      through: LINES.at(-1)!.date,
    })
  }
})

test('our reader of MT940 reads what another library reads', async () => {
  const text = mt940Statement(100, LINES)
  const [theirs] = new Parser().parse(text)
  const { lines } = await read(text, 'mt940')
  expect(
    lines.map(({ amountPaise, reference }) => [rupees(Number(amountPaise)), reference || 'NONREF']),
  ).toEqual(theirs!.transactions.map(({ amount, reference }) => [amount.toFixed(2), reference]))
})

test('fields of MT940: entry days of another year, reversals, references of the bank, structured narrations', async () => {
  const { lines } = await read(
    [
      ':20:X',
      ':25:HDFC/50100012345678',
      ':28C:1',
      ':60M:C251231INR0,',
      ':61:2512310102C0000000100,5NTRFNONREF//BANKREF000001',
      ':86:166?00TRANSFER?20NEFT HDFCN5260?21PYO',
      ':61:260103RC00050,NMSCREF0000000001',
      'SUPPLEMENT',
      ':61:260103RD0,50NMSCREF0000000002',
      ':62F:C260103INR51,00',
    ].join('\n'),
  )
  expect(lines.map(({ line: _line, ...rest }) => rest)).toEqual([
    {
      bookedOn: '2026-01-02',
      amountPaise: 10_050n,
      reference: 'BANKREF000001',
      narration: 'TRANSFER NEFT HDFCN5260 PYO',
      balancePaise: 10_050n,
    },
    {
      bookedOn: '2026-01-03',
      amountPaise: -5_000n,
      reference: 'REF0000000001',
      narration: 'SUPPLEMENT',
      balancePaise: 5_050n,
    },
    {
      bookedOn: '2026-01-03',
      amountPaise: 50n,
      reference: 'REF0000000002',
      narration: '',
      balancePaise: 5_100n,
    },
  ])
})

test('MT940: the reference of the bank beside that of the customer, and a second narration, are kept', async () => {
  const { lines } = await read(
    [
      ':20:X',
      ':60F:C260101INR0,',
      ':61:260102C100,NTRFINV-17//HDFCN526001',
      ':86:NEFT ACME',
      ':86:SECOND',
      ':61:260102C1,NTRFSAME1//SAME1',
      ':62F:C260102INR101,',
    ].join('\n'),
  )
  expect(lines.map(({ reference, narration }) => [reference, narration])).toEqual([
    ['INV-17', 'HDFCN526001 NEFT ACME SECOND'],
    ['SAME1', ''],
  ])
})

test('camt.053: all references are kept; of several transactions none is that of the entry', async () => {
  const of = async (details: string, entry = '') => {
    const [row] = (
      await read(
        camtStatement(0, [{ date: '2026-04-01', paise: 100 }]).replace(
          /<NtryDtls>.*/,
          `${entry}<NtryDtls>${details}</NtryDtls></Ntry>`,
        ),
      )
    ).lines
    return [row!.reference, row!.narration]
  }
  const refs = (inner: string) => `<TxDtls><Refs>${inner}</Refs></TxDtls>`
  expect(await of(refs('<EndToEndId>NOTPROVIDED</EndToEndId><ClrSysRef>432198765009</ClrSysRef>'))).toEqual([
    '432198765009',
    '',
  ])
  for (const name of ['InstrId', 'ClrSysRef', 'PmtInfId', 'MsgId'])
    expect(await of(refs(`<EndToEndId>E1</EndToEndId><${name}>HDFCN526001</${name}>`))).toEqual([
      'E1',
      'HDFCN526001',
    ])
  expect(await of(refs('<Prtry><Tp>UTR</Tp><Ref>HDFCN526001</Ref></Prtry>'))).toEqual(['HDFCN526001', ''])
  const strd = '<TxDtls><RmtInf><Strd><CdtrRefInf><Ref>RF18</Ref></CdtrRefInf></Strd></RmtInf></TxDtls>'
  expect(await of(strd)).toEqual(['RF18', ''])
  const two = refs('<EndToEndId>E1</EndToEndId>') + refs('<EndToEndId>E2</EndToEndId>')
  expect(await of(two)).toEqual(['', 'E1 E2'])
  expect(await of(`<Btch><PmtInfId>PYR1</PmtInfId></Btch>${two}`)).toEqual(['PYR1', 'E1 E2'])
  expect(await of(two, '<AcctSvcrRef>BANK1</AcctSvcrRef>')).toEqual(['BANK1', 'E1 E2'])
})

test.each(['4.32199E+11', '432198765009.0', '#N/A', '########'])(
  'a CSV statement with the reference %s was changed by a spreadsheet',
  async (reference) => {
    const text = csvStatement(0, [{ date: '2026-04-01', paise: 1, reference }])
    await expect(read(text)).rejects.toThrow('A spreadsheet changed the column reference of file.csv')
  },
)

test.each(['12345', 'N/A', 'SUCCESS', 'INV-17/2026'])(
  'a CSV statement may have the reference %s',
  async (reference) => {
    const { lines } = await read(csvStatement(0, [{ date: '2026-04-01', paise: 1, reference }]))
    expect(lines[0]!.reference).toBe(reference === 'N/A' ? '' : reference)
  },
)

const two: readonly StatedLine[] = [
  { date: '2026-04-01', paise: 100_00, reference: 'HDFCN526001' },
  { date: '2026-04-02', paise: -40_00, reference: 'HDFCN526002' },
]
const changed = (text: string, from: string, to: string): string => {
  expect(text).toContain(from)
  return text.replace(from, to)
}

test('a balance that does not follow, a missing line and another amount are refused, with the line', async () => {
  const texts = [csvStatement(0, two), mt940Statement(0, two), camtStatement(0, two)]
  await expect(read(changed(texts[0]!, '-40.00', '-39.00'))).rejects.toThrow(
    /^Line 2: the balance is 60.00.*61.00/,
  )
  await expect(read(changed(texts[1]!, 'D40,00', 'D41,00'))).rejects.toThrow(
    /^Line 7: the closing balance is 60.00/,
  )
  await expect(read(changed(texts[2]!, '>40.00<', '>41.00<'))).rejects.toThrow(
    /^Line \d+: the closing balance/,
  )
  await expect(read(texts[0]!.replace(/\n2026-04-01.*/, ''))).resolves.toMatchObject({
    openingPaise: 10_000n,
  })
  await expect(read(csvStatement(0, [...two].reverse()))).rejects.toThrow(/oldest first/)
})

test.each([
  ['', /is empty|no lines/],
  ['date,amount,reference,narration,balance\n', /no lines and no balances/],
  [
    csvStatement(0, [{ date: '2026-04-01', paise: 1 }]).replace('0.01', '1.001'),
    /cannot be read:\nline 1: amount/,
  ],
  [csvStatement(0, [{ date: '31-04-2026', paise: 1 }]), /cannot be read/],
  [mt940Statement(0, two).replace('INR', 'USD'), /Line 4: the currency/],
  [mt940Statement(0, two).replace('C100,00', 'X100,00'), /Line 5: field 61/],
  [mt940Statement(0, two).replace(':20:STATEMENT1\r\n', ''), /no field 20|no column/],
  [camtStatement(0, two).replace('</Stmt>', ''), /no camt.053 statement/],
  [camtStatement(0, two).replace('CRDT</CdtDbtInd><Sts>', 'X</CdtDbtInd><Sts>'), /CdtDbtInd/],
  [camtStatement(0, two).replaceAll('INR', 'EUR'), /currency/],
])('what is no statement in rupees is refused: %#', async (text, why) => {
  await expect(read(text)).rejects.toThrow(why)
})

test('entities of other files are never read, and a declaration of any is refused', async () => {
  const evil = camtStatement(0, two)
    .replace('<Document', '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><Document')
    .replace('HDFCN526001', '&x;')
  await expect(read(evil)).rejects.toThrow(/document type declaration/)
  await expect(read(camtStatement(0, two).replace('HDFCN526001', '&x;'))).rejects.toThrow(/no camt.053/)
})

test('a statement is read in bounded memory, part by part', async () => {
  const text = camtStatement(0, two)
  for (const size of [1, 7, 64]) {
    const source = {
      name: 'slow.xml',
      async *bytes() {
        for (let i = 0; i < text.length; i += size) yield Buffer.from(text.slice(i, i + size))
      },
    }
    const { lines } = await readStatement(source, 'camt053', DAYS)
    expect(lines).toBe(2)
  }
})
