import type { MemberRole } from '@svc/console-api/portal/member-roles'
import { inviteMember } from '@svc/console-api/portal/member-store'
import { Browser, PASSWORD, PORTAL_API } from './console.ts'
import { asSuperuser, type TestService } from './service.ts'

let members = 0

/** Invites a person of the tenant; returns the link that the person opens. */
export async function invite(
  { app }: TestService,
  tenantId: string,
  role: MemberRole = 'admin',
  { hours = 72, name = `${role}.${members++}@tenant.example` } = {},
): Promise<{ memberId: string; name: string; token: string; link: string }> {
  const { clock, database, keyring, random } = app.services
  const tools = { keyring, random, now: new Date(clock.now()) }
  const requested = {
    tenantId,
    name,
    role,
    hours,
    createdBy: 'operator asha',
    publicUrl: 'https://svc.example',
  }
  const { member, link } = await database.operate((tx) => inviteMember(tx, tools, requested))
  return { memberId: member.memberId, name, link, token: link.split('#')[1]! }
}

/** A browser in which a member of the tenant is signed in. */
export async function memberBrowser(
  service: TestService,
  tenantId: string,
  role: MemberRole = 'admin',
): Promise<Browser & { readonly memberName: string; readonly memberId: string }> {
  const { memberId, name, token } = await invite(service, tenantId, role)
  const browser = new Browser(service, PORTAL_API)
  const response = await browser.post('/link/password', { token, password: PASSWORD })
  if (response.status !== 200) throw new Error(`not signed in: ${response.text}`)
  return Object.assign(browser, { memberName: name, memberId })
}

/** Their sign-in was so long ago. */
export const ageMember = ({ db }: TestService, memberId: string, minutes = 6) =>
  asSuperuser(db.database, (admin) =>
    admin.query(
      `update member_sessions set authenticated_at = authenticated_at - $2 * interval '1 minute' where member_id = $1`,
      [memberId, minutes],
    ),
  )
