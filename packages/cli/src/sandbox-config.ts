import { type Config, readConfig } from '@svc/contract/config'
import { UsageError } from './usage-error.ts'

/** The settings, for what works on the data of a sandbox only. */
export function sandboxConfig(): Config {
  const config = readConfig(process.env)
  if (config.SVC_MODE !== 'sandbox')
    throw new UsageError(
      'This is for the sandbox only, and SVC_MODE is live. For live data there are: svc admin backup, svc admin restore',
    )
  return config
}
