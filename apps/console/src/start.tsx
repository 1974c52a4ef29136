import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './session.ts'
import { readable, theme } from './theme.ts'

/** Shows a page with its colours, notifications and queries. */
export function start(page: ReactNode): void {
  createRoot(document.querySelector('#root')!).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
        <Notifications position="bottom-right" />
        <QueryClientProvider client={queryClient}>{page}</QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
