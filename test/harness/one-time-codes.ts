import { Secret, TOTP } from 'otpauth'
import { asSuperuser } from './superuser.ts'

/**
 * What an authenticator app with this secret shows so many periods from now. A code of the next period is accepted for
 * three periods, so a test that confirms an app with the code of now signs in with `codeOf(secret, 1)`: it is another
 * code, and right, also where a period ends between the two or before a slow machine checks it.
 */
export const codeOf = (secret: string, periods = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + periods * 30_000 })

/** As if the codes that were used in this database were used long ago: the next one is right, whichever it is. */
export const forgetUsedCodes = (database: string): Promise<unknown> =>
  asSuperuser(database, (admin) =>
    admin.query(
      `begin; set local session_replication_role = replica;
       update operator_totp set last_step = 0; update member_totp set last_step = 0; commit`,
    ),
  )
