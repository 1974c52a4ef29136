import { MantineProvider } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { onRepeated } from './pending-requests.ts'
import { queryClient } from './session.ts'
import { readable, theme } from './theme.ts'

onRepeated.add(() =>
  notifications.show({
    // One for all rows of a list.
    id: 'repeated',
    color: 'yellow',
    autoClose: 10_000,
    title: 'Done once',
    message: 'This had been sent before, and no response had arrived. To do it again, send it again.',
  }),
)

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
