import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { banner } from '@svc/server/sandbox/banner'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const [, shown = ''] = /^```text\n( {2}Service .*?)^```\n/ms.exec(readme) ?? []

/** The value of a row of the sample, by its label. */
const valueOf = (label: string): string => new RegExp(`^  ${label} {2,}(.*)$`, 'm').exec(shown)?.[1] ?? ''

test('the output that the README shows is what the sandbox prints, line by line; … stands for lines left out', () => {
  const [merchantId = '', vpa = ''] = valueOf('Merchant').split('  ')
  const merchant = { merchantId, vpa, apiKey: valueOf('API key') }
  const database = valueOf('Database')
  const printed = stripVTControlCharacters(
    banner({
      baseUrl: valueOf('Service'),
      database,
      mode: 'sandbox',
      hasConsole: true,
      hasPortal: true,
      demo: { merchant, otherMerchant: merchant, qrCodeId: 'qr_1' } as never,
      file: `${database.split(' in ')[1]}/sandbox.json`,
      tookMs: 3_000,
    }),
  )
  const parts = shown.split('  …\n')
  expect(parts).toHaveLength(2)
  for (const part of parts) expect(`${printed}\n`).toContain(`\n${part}`)
})
