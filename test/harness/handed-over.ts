import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Client, Json } from './client.ts'
import { Browser, PASSWORD, PORTAL_API } from './console.ts'
import type { Live } from './live.ts'

/** What the link of a hand-over shows to the person who opens it, who is signed in to the portal then. */
export async function openHandover(
  client: Client,
  link: string,
): Promise<{ member: Browser; handover: Json }> {
  const member = new Browser({ client }, PORTAL_API)
  const opened = await member.post('/link/password', { token: link.split('#')[1], password: PASSWORD })
  expect(opened.status, opened.text).toBe(200)
  return { member, handover: opened.json.handover }
}

/** Commands that would show a secret of a tenant do nothing in live mode. */
export const refusesToShow = (svc: Live['svc'], args: readonly string[]): Promise<void> =>
  expect(svc(args)).rejects.toThrow('they are handed over by a link')

/** Settings of a command that a second administrator gives. */
export const AS_MEERA = { SVC_OPERATOR: 'meera' }

/** Credentials of live mode, as a person of the tenant gets them: operators see none (decision O8). */
export async function handedOver(
  { svc }: Pick<Live, 'svc'>,
  client: Client,
  tenantId: string,
  ...options: readonly string[]
): Promise<Json> {
  const person = `owner-${randomUUID()}@tenant.example`
  const handOver = ['admin', 'member', 'hand-over', tenantId, person, ...options]
  const { approvalId, link } = await svc(handOver)
  await svc(['admin', 'operator', 'approve', approvalId], '', AS_MEERA)
  return (await openHandover(client, link)).handover
}
