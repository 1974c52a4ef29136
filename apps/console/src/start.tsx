import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, type ReactNode, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './session.ts'
import { readable, theme } from './theme.ts'

// Messages wait until it is here, so it is not part of the first load.
const Toasts = lazy(async () => ({ default: (await import('./shell/toasts.tsx')).Toasts }))

/** Shows a page with its colours, notifications and queries. */
export function start(page: ReactNode): void {
  createRoot(document.querySelector('#root')!).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
        <Suspense>
          <Toasts />
        </Suspense>
        <QueryClientProvider client={queryClient}>{page}</QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
