import type { TokenServices } from '@svc/server/access/authenticate'
import type { ReferenceOptions } from '@svc/server/http/reference'
import { CREDENTIALS_PATH, readSandboxFile } from '@svc/server/sandbox/sandbox-file'

/** The parts of the reference that only a sandbox has. */
export const sandboxReference = (
  services: TokenServices,
): Pick<ReferenceOptions, 'live' | 'index' | 'credentials'> => ({
  // Loaded when the document is first requested.
  live: async (recorded) =>
    (await import('@svc/server/sandbox/live-reference')).liveReference(services, recorded),
  index: async () => {
    const { CONSOLE, DATA_DIR } = services.config
    const { sandboxIndex } = await import('@svc/server/sandbox/index-page')
    return sandboxIndex({ demo: await readSandboxFile(DATA_DIR), hasConsole: CONSOLE === 'on' })
  },
  credentials: {
    path: CREDENTIALS_PATH,
    of: async (baseUrl) => {
      const file = await readSandboxFile(services.config.DATA_DIR)
      return file && { ...file, baseUrl }
    },
  },
})
