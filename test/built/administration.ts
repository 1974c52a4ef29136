import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newProgram } from '@svc/cli/program'
import type { Command } from 'commander'
import { expect } from 'vitest'
import type { Json } from '../harness/client.ts'
import type { Live } from '../harness/live.ts'
import type { LiveMerchant } from './merchants.ts'
import type { LivePartner } from './partners.ts'

export const PASSWORD = 'correct horse battery staple'

/** Commands that do not administer an installation: they run the service, call it, or are of the sandbox alone. */
const OTHERS =
  /^(?:serve|encrypt|decrypt|conformance|card issue|qr .*|events (?:listen|trigger)|sandbox .*|login|logout|profiles|api .*|payments .*|cards .*|logs .*|listen|trigger|complete|completion)$/

/** Every command that administers an installation, as a user writes it. */
export function administrationCommands(): string[] {
  const leaves = (command: Command, before: string): string[] =>
    command.commands.flatMap((child) => {
      const name = `${before}${child.name()}`
      const below = leaves(child, `${name} `)
      // `svc backup <file>` is a command and has one below it.
      return below.length === 0 || name === 'backup' ? [name, ...below] : below
    })
  return leaves(newProgram(), '').filter((name) => !OTHERS.test(name))
}

type Svc = Live['svc']

export async function administerMerchants(
  svc: Svc,
  { merchantId }: LiveMerchant,
  url: string,
): Promise<void> {
  await svc(['merchant', 'list'])
  await svc(['key', 'list', merchantId])
  await svc(['merchant', 'link', merchantId])
  await svc(['merchant', 'disable', merchantId])
  await svc(['merchant', 'enable', merchantId])
  const { endpointId } = await svc(['webhook', 'create', merchantId, '--url', url])
  for (const verb of ['rotate', 'disable', 'enable', 'delete'])
    await svc(['webhook', verb, merchantId, endpointId])
  await svc(['webhook', 'list', merchantId])
}

export async function administerPartners({ svc, folder }: Live, partner: LivePartner): Promise<void> {
  const { partnerId, companyId } = partner
  await svc(['partner', 'list'])
  const { clientId } = await svc(['partner', 'client', 'issue', partnerId, '--name', 'batch jobs'])
  expect(await svc(['partner', 'client', 'list', partnerId])).toHaveLength(2)
  await svc(['partner', 'client', 'revoke', clientId])
  const jwk = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) }
  const file = join(folder, 'public.jwk')
  await writeFile(file, JSON.stringify({ ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW', kid: 'acme-1' }))
  const { kid } = await svc(['partner', 'key', 'register-public', partnerId, file])
  expect(await svc(['partner', 'key', 'list', partnerId])).toHaveLength(2)
  await svc(['partner', 'key', 'retire', partnerId, kid])
  await svc(['partner', 'disable', partnerId])
  await svc(['partner', 'enable', partnerId])
  await svc(['company', 'list', partnerId])
  await svc(['user', 'list', companyId])
  await svc(['card-account', 'list', companyId])
}

export async function administerCards(
  svc: Svc,
  { inUse: svcCardId, waiting }: { inUse: string; waiting: string },
): Promise<void> {
  await svc(['card', 'activate', waiting])
  await svc(['card', 'show', svcCardId])
  await svc(['card', 'lock', svcCardId, '--reason', 'reported lost'])
  await svc(['card', 'unlock', svcCardId, '--reason', 'found'])
  await svc(['card', 'flags', 'set', svcCardId, '--atm', 'on', '--atm-admin', 'on'])
  await svc(['card', 'kyc', 'set', svcCardId, 'UPLOADED'])
  await svc(['card', 'block', svcCardId, '--reason', 'stolen'])
  await svc(['card', 'history', svcCardId])
  const { svcCardId: replacement } = await svc(['card', 'replace', waiting, '--reason', 'lost'])
  await svc(['card', 'block', replacement, '--reason', 'not wanted'])
  const { returnId } = await svc(['card', 'return', replacement, '--consent', 'LETTER-1'])
  await svc(['card', 'reverse-return', returnId, '--reason', 'wanted after all'])
  expect(await svc(['card', 'returns', '--card', replacement])).toHaveLength(1)
}

export async function administerOperators(svc: Svc): Promise<void> {
  await svc(['operator', 'create', 'asha', '--role', 'admin', '--password-stdin'], `${PASSWORD}\n`)
  await svc(['operator', 'create', 'ravi', '--role', 'viewer', '--password-stdin'], `${PASSWORD}\n`)
  await svc(['operator', 'role', 'ravi', 'operator'])
  await svc(['operator', 'reset-password', 'ravi', '--password-stdin'], `${PASSWORD} two\n`)
  await svc(['operator', 'disable', 'ravi'])
  await svc(['operator', 'enable', 'ravi'])
  expect(await svc(['operator', 'list'])).toHaveLength(2)
}

export async function administerKeys(svc: Svc): Promise<void> {
  await svc(['keys', 'rotate', 'card_number'])
  await svc(['keys', 'rotate', 'webhook_signing'])
  const keys: Json[] = await svc(['keys', 'list'])
  const former = keys.find(({ purpose, status }) => purpose === 'webhook_signing' && status !== 'current')
  await svc(['keys', 'retire', former.keyId])
  expect(await svc(['keys', 'rewrap'])).toMatchObject({ rewrapped: 0 })
}

/** What proves the books, and a backup that takes the place of the data that it was made of. */
export async function proveAndRestore({ svc, folder }: Live): Promise<void> {
  await svc(['doctor'])
  await svc(['audit', 'verify'])
  await svc(['reconcile'])
  await svc(['invariants'])
  expect((await svc(['books', 'statement', 'suspense:house']))[0].what).toBe('Opening balance')
  expect((await svc(['books', 'trial-balance'])).at(-1).account).toBe('Total')
  await svc(['books', 'liabilities'])
  const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  await svc(['books', 'close', '--through', day])
  expect(await svc(['books', 'closings'])).toHaveLength(1)
  expect(await svc(['books', 'verify'])).toMatchObject([{ through: day, result: 'as signed' }])
  expect((await svc(['coins', 'liability']))[0].coins).toBeGreaterThan(0)
  const settled = join(folder, 'settled.csv')
  await writeFile(settled, 'utr,amount,date\nNOTHERE0001,1.00,2026-04-01\n')
  expect(await svc(['settlement', 'import', settled])).toMatchObject({ unknown: 1 })
  expect(await svc(['settlement', 'differences'])).toContainEqual(
    expect.objectContaining({ kind: 'unknown', utr: 'NOTHERE0001' }),
  )
  const file = join(folder, 'today.tar')
  await svc(['backup', file])
  await svc(['backup', 'verify', file])
  await svc(['restore', file, '--replace'])
  await svc(['reconcile'])
}
